/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms in the slots of cgroups (cgroup_slots.bpf.h).
 *
 * Before including it, LATENCY_HISTOGRAM_MAP says what they are in: BPF_MAP_TYPE_PERCPU_ARRAY for what happens at every
 * switch, BPF_MAP_TYPE_ARRAY for what is rarer, which costs the same memory on any number of CPUs. */
#pragma once

#include "cgroup_slots.bpf.h"

struct {
  __uint(type, LATENCY_HISTOGRAM_MAP);
  __uint(max_entries, 1); /* slots times kinds of delays, set before loading */
  __type(key, __u32);
  __type(value, struct latency_histogram);
} histograms SEC(".maps");

/* floor(log2) + 1, and 0 of 0, in steps: the instruction set has no count of leading zeros. */
static __always_inline __u32 bucket_of(__u64 delay_ns) {
  __u64 us = delay_ns / 1000;
  if (us >= 1ull << (LATENCY_BUCKETS - 2)) return LATENCY_BUCKETS - 1;
  __u32 bits = 0;
  if (us >> 16) us >>= 16, bits += 16;
  if (us >> 8) us >>= 8, bits += 8;
  if (us >> 4) us >>= 4, bits += 4;
  if (us >> 2) us >>= 2, bits += 2;
  if (us >> 1) us >>= 1, bits += 1;
  return bits + us;
}

/* By one writer at a time: the CPU's own copy, under its run queue's lock. */
static __always_inline void add_delay(__u32 index, __u64 delay_ns) {
  struct latency_histogram* histogram = bpf_map_lookup_elem(&histograms, &index);
  __u32 bucket = bucket_of(delay_ns);
  if (!histogram || bucket >= LATENCY_BUCKETS) return;
  histogram->sum_ns += delay_ns;
  histogram->buckets[bucket]++;
}

/* By any number of CPUs at once. */
static __always_inline void add_delay_shared(__u32 index, __u64 delay_ns) {
  struct latency_histogram* histogram = bpf_map_lookup_elem(&histograms, &index);
  __u32 bucket = bucket_of(delay_ns);
  if (!histogram || bucket >= LATENCY_BUCKETS) return;
  __sync_fetch_and_add(&histogram->sum_ns, delay_ns);
  __sync_fetch_and_add(&histogram->buckets[bucket], 1);
}
