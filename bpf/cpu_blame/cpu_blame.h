/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that charge cgroups for the time in which they occupied a CPU while
 * others waited for it.
 *
 * Cgroups are named by their slots (latency_slots.h). A *wait* begins when a thread becomes runnable and ends when it
 * runs. Time in which its cgroup was throttled by its own CPU quota, or by that of a cgroup above it, is no part of
 * the wait: it is counted apart. */
#pragma once

#include "bpf/include/latency_slots.h"

/* Only waits of this length are blamed on culprits: shorter ones do no harm, and there are many more of them. */
#define BLAME_LONG_NS 1000000

/* Occupants of a CPU beside cgroups. No cgroup has one of these slots. */
#define BLAME_MAX_SLOTS 0xfff0
#define BLAME_UNKNOWN 0xfffa /* longer ago than is remembered */
#define BLAME_MOVED 0xfffb   /* parts of less than BLAME_LONG_NS, on CPUs that the thread was moved away from */
#define BLAME_KERNEL 0xfffd  /* threads of the kernel */
#define BLAME_IDLE 0xfffe    /* no thread */

/* Key of the matrix: victim << 16 | culprit. The value: ns. */
#define BLAME_SLOT_BITS 16

/* Excess over x: the sum of max(0, wait - x), for x = 0.25 ms · 2^level. */
#define BLAME_LEVELS 6
#define BLAME_FIRST_LEVEL_NS 250000

/* The times of a cgroup on one CPU, since it has its slot. Those of waits have also the waits that last, up to the last
 * visit. The values that most switches change come first. */
struct blame_slot {
  __u64 wait_ns;
  __u64 waits;                        /* that have ended */
  __u64 run_ns;                       /* up to BLAME_RUN_NS ago; interrupts in that time included */
  __u64 throttled_ns;                 /* of threads that were waiting otherwise */
  struct latency_throttled throttled; /* for the programs */
  __u64 long_ns;                      /* of waits of at least BLAME_LONG_NS */
  __u64 excess_ns[BLAME_LEVELS];
};

/* The waits of a cgroup on one CPU by their lengths, when they have ended, those of kernel threads in it too:
 * latency_histogram without the sum, which is wait_ns. Read seldom, so it is apart. */
struct blame_lengths {
  __u64 buckets[LATENCY_BUCKETS];
};

/* A cgroup that goes on running has its time and its short waits counted so often. */
#define BLAME_RUN_NS 1000000

/* The occupants of a CPU, in three rings, each older than the one before: *segments* of one cgroup each; *epochs* of at
 * least 1 ms, with the times of the cgroups that ran in them; long epochs of at least 16 ms, which cover a second or
 * more. Each entry ends where the next one begins. Rings of segments alone would forget within 1 ms where client and
 * server alternate on a CPU. */
#define BLAME_SEGMENTS 16
#define BLAME_EPOCHS 32
#define BLAME_EPOCH_NS 1000000
#define BLAME_LONG_EPOCHS 64
#define BLAME_LONG_EPOCH_NS 16000000
#define BLAME_EPOCH_SLOTS 4

struct blame_segment {
  __u64 begin_ns;
  __u64 slot;
};

struct blame_epoch {
  __u64 begin_ns;
  __u64 slots[BLAME_EPOCH_SLOTS];
  __u64 ns[BLAME_EPOCH_SLOTS];
};

struct blame_cpu {
  __u64 counted_ns; /* the time of the current cgroup is counted up to then; 0: no switch yet */
  __u64 waited_ns;  /* short waits of the current cgroup since then */
  __u64 waits;      /* of waited_ns */
  struct blame_segment current;
  __u32 n_segments, n_epochs, n_long_epochs, reserved; /* all that were ever added */
  struct blame_segment segments[BLAME_SEGMENTS];
  struct blame_epoch epochs[BLAME_EPOCHS];
  struct blame_epoch long_epochs[BLAME_LONG_EPOCHS];
};
