/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that charge cgroups for the time in which they occupied a CPU while other
 * cgroups waited for it.
 *
 * Cgroups are identified by their slots (latency_slots.h). A *wait* begins when a thread becomes runnable and ends when
 * it runs. Time in which its cgroup was throttled by its own CPU quota, or by the quota of an ancestor, is not part of
 * the wait and is counted separately. */
#pragma once

#include "bpf/include/latency_slots.h"

/* Only waits of at least this length are charged to culprits, because shorter waits are harmless and much more
 * frequent. */
#define BLAME_LONG_NS 1000000

/* Occupants of a CPU other than cgroups. No cgroup has one of these slots. */
#define BLAME_MAX_SLOTS 0xfff0
#define BLAME_UNKNOWN 0xfffa /* longer ago than the programs record */
#define BLAME_MOVED 0xfffb   /* parts shorter than BLAME_LONG_NS on CPUs from which the thread was moved */
#define BLAME_KERNEL 0xfffd  /* kernel threads */
#define BLAME_IDLE 0xfffe    /* no thread */

/* Key of the matrix: victim << 16 | culprit. Its value is a time in ns. */
#define BLAME_SLOT_BITS 16

/* Excess over x: the sum of max(0, wait - x), for x = 0.25 ms · 2^level. */
#define BLAME_LEVELS 6
#define BLAME_FIRST_LEVEL_NS 250000

/* The times of a cgroup on one CPU, since it got its slot. Times of waits include waits that still last, up to the last
 * visit. The values that most switches change come first. */
struct blame_slot {
  __u64 wait_ns;
  __u64 waits;                        /* number of waits that have ended */
  __u64 run_ns;                       /* up to BLAME_RUN_NS at the end may be missing; includes interrupts */
  __u64 throttled_ns;                 /* throttled time of threads that would have waited */
  struct latency_throttled throttled; /* used only by the programs */
  __u64 long_ns;                      /* time in waits of at least BLAME_LONG_NS */
  __u64 excess_ns[BLAME_LEVELS];
};

/* The ended waits of a cgroup on one CPU by length, including the waits of its kernel threads. It is like
 * latency_histogram without the sum, which is wait_ns. It is separate, because it is rarely read. */
struct blame_lengths {
  __u64 buckets[LATENCY_BUCKETS];
};

/* The time and the short waits of a cgroup that continues to run are counted at this interval. */
#define BLAME_RUN_NS 1000000

/* The occupants of a CPU, in three rings for increasing ages. *Segments* have one cgroup each. *Epochs* last at least 1
 * ms and have the times of the cgroups that ran in them. Long epochs last at least 16 ms and together cover a second or
 * more. Each entry ends where the next entry begins. Segments alone would cover less than 1 ms when client and server
 * alternate on a CPU. */
#define BLAME_SEGMENTS 16
#define BLAME_EPOCHS 32
#define BLAME_EPOCH_NS 1000000
#define BLAME_LONG_EPOCHS 64
#define BLAME_LONG_EPOCH_NS 16000000
#define BLAME_EPOCH_SLOTS 8

struct blame_segment {
  __u64 begin_ns;
  __u64 slot;
};

struct blame_epoch {
  __u64 begin_ns;
  __u64 ns[BLAME_EPOCH_SLOTS];
  __u16 slots[BLAME_EPOCH_SLOTS];
};

struct blame_cpu {
  __u64 counted_ns; /* the time of the current cgroup is counted up to this time; 0: no switch yet */
  __u64 waited_ns;  /* short waits of the current cgroup since counted_ns */
  __u64 waits;      /* number of waits in waited_ns */
  struct blame_segment current;
  __u32 n_segments, n_epochs, n_long_epochs, reserved; /* numbers of all entries ever added */
  struct blame_segment segments[BLAME_SEGMENTS];
  struct blame_epoch epochs[BLAME_EPOCHS];
  struct blame_epoch long_epochs[BLAME_LONG_EPOCHS];
};
