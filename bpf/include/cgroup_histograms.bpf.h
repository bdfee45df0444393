/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms in the slots of cgroups (cgroup_slots.bpf.h).
 *
 * Before including it, LATENCY_HISTOGRAM_MAP says what they are in: BPF_MAP_TYPE_PERCPU_ARRAY for what happens at every
 * switch, BPF_MAP_TYPE_ARRAY for what is rarer, which costs the same memory on any number of CPUs. */
#pragma once

#include "cgroup_slots.bpf.h"
#include "delay_buckets.bpf.h"

struct {
  __uint(type, LATENCY_HISTOGRAM_MAP);
  __uint(max_entries, 1); /* slots times kinds of delays, set before loading */
  __type(key, __u32);
  __type(value, struct latency_histogram);
} histograms SEC(".maps");

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
