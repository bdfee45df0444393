/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by programs that measure latencies per cgroup and by user space: histograms of delays, and the slots
 * that hold them.
 *
 * Slots. Every cgroup with a recorded delay has a slot: an index into an array of histograms, one for each kind of
 * delay. The kernel side claims a slot when it first sees a cgroup, so a container is measured from its first delay,
 * before user space knows it. When the cgroup's directory is removed, the kernel side pushes the slot to `ended_slots`.
 * User space reads the last values, clears the slot and pushes it to `free_slots`. So no code has to search for removed
 * cgroups, and no removed cgroup keeps its slot. Slot 0 belongs to no cgroup. It counts the delays for which no slot
 * was free, so the node's total stays complete and the loss is visible. */
#pragma once

#ifndef __BPF__
#include <linux/types.h>
#endif

/* Bucket 0: less than 1 µs. Bucket n: [2^(n-1), 2^n) µs. The last: everything from 2^24 µs = 16.8 s up. */
#define LATENCY_BUCKETS 26

#define LATENCY_NO_CGROUP_SLOT 0

struct latency_histogram {
  __u64 sum_ns;
  __u64 buckets[LATENCY_BUCKETS];
};

/* Cache of slots, indexed by the serial number of a cgroup's state. An entry is serial << 16 | slot, or 0 if it is
 * empty. A collision only costs a hash lookup. UNAVAILABLE means that no slot was free. */
#define LATENCY_CACHE_ENTRIES 65536
#define LATENCY_SLOT_BITS 16
#define LATENCY_SLOT_UNAVAILABLE 0xffff
#define LATENCY_MAX_SLOTS 0xffff

/* Throttled times of a cgroup on one CPU, as the programs know them: when a thread last left the CPU; 1 + the kernel's
 * count when a thread last got the CPU; the last throttled interval. */
struct latency_throttled {
  __u64 left_ns, seen, begin_ns, end_ns;
};

struct latency_ended {
  __u64 cgroup;
  __u32 slot;
  __u32 reserved;
};
