/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms in the slots of cgroups (cgroup_slots.bpf.h).
 *
 * Define LATENCY_HISTOGRAM_MAP, the type of their map, before including this: BPF_MAP_TYPE_PERCPU_ARRAY for events at
 * each switch, or BPF_MAP_TYPE_ARRAY for rarer events, which needs the same memory on any number of CPUs. */
#pragma once

#include "cgroup_slots.bpf.h"
#include "delay_buckets.bpf.h"

struct {
  __uint(type, LATENCY_HISTOGRAM_MAP);
  __uint(max_entries, 1); /* slots times kinds of delays, set before loading */
  __type(key, __u32);
  __type(value, struct latency_histogram);
} histograms SEC(".maps");

/* Adds a delay to the CPU's own copy. The caller is the only writer, because it holds the run queue's lock. */
static __always_inline void add_delay(__u32 index, __u64 delay_ns) {
  struct latency_histogram* histogram = bpf_map_lookup_elem(&histograms, &index);
  __u32 bucket = bucket_of(delay_ns);
  if (!histogram || bucket >= LATENCY_BUCKETS) return;
  histogram->sum_ns += delay_ns;
  histogram->buckets[bucket]++;
}

/* Adds a delay; any number of CPUs may call it at the same time. */
static __always_inline void add_delay_shared(__u32 index, __u64 delay_ns) {
  struct latency_histogram* histogram = bpf_map_lookup_elem(&histograms, &index);
  __u32 bucket = bucket_of(delay_ns);
  if (!histogram || bucket >= LATENCY_BUCKETS) return;
  __sync_fetch_and_add(&histogram->sum_ns, delay_ns);
  __sync_fetch_and_add(&histogram->buckets[bucket], 1);
}
