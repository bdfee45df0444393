/* SPDX-License-Identifier: Apache-2.0 */
/* Charges the cgroups that ran on a CPU with the waits of other cgroups, in the matrix of (victim, culprit). */
#pragma once

#include "cpu_history.bpf.h"

/* The key is the number of the CPU. A different CPU may move a thread; while it does, it holds the lock of this CPU's
 * run queue. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1); /* number of CPUs, set before loading */
  __type(key, __u32);
  __type(value, struct blame_cpu);
} cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1); /* number of pairs, set before loading */
  __type(key, __u32);
  __type(value, __u64);
} matrix SEC(".maps");

/* The time that did not fit into the matrix. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} unplaced SEC(".maps");

static __always_inline void count_unplaced(__u64 ns) {
  __u32 zero = 0;
  __u64* sum = bpf_map_lookup_elem(&unplaced, &zero);
  if (sum) __sync_fetch_and_add(sum, ns);
}

/* Global functions with plain numbers as arguments, because the verifier checks them only once, not at each call. */

__noinline int charge(__u32 victim, __u32 culprit, __u64 ns) {
  __u32 key = victim << BLAME_SLOT_BITS | culprit;
  __u64* pair = bpf_map_lookup_elem(&matrix, &key);
  if (!pair) {
    if (!bpf_map_update_elem(&matrix, &key, &ns, BPF_NOEXIST)) return 0;
    pair = bpf_map_lookup_elem(&matrix, &key); /* a different CPU added the pair first, or the matrix is full */
  }
  if (pair)
    __sync_fetch_and_add(pair, ns);
  else
    count_unplaced(ns);
  return 0;
}

/* Charges the cgroup that ran from `begin_ns` to the end of the wait. Returns the end of the remaining wait. */
__noinline __u64 blame_segment(__u32 victim, __u32 culprit, __u64 begin_ns, __u64 from_ns, __u64 to_ns) {
  __u64 begin = begin_ns > from_ns ? begin_ns : from_ns;
  if (begin >= to_ns) return to_ns;
  charge(victim, culprit, to_ns - begin);
  return begin;
}

/* Charges the cgroups of one epoch with its part of the wait. `age`: number of newer epochs. Returns the end of the
 * remaining wait. */
__noinline __u64 blame_epoch(__u32 number, __u32 age, __u32 victim, __u64 from_ns, __u64 to_ns) {
  const struct blame_cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return from_ns;
  const struct blame_epoch* epoch = &cpu->epochs[(cpu->n_epochs - 1 - age) % BLAME_EPOCHS];
  if (age >= BLAME_EPOCHS)
    epoch = &cpu->long_epochs[(cpu->n_long_epochs - 1 - (age - BLAME_EPOCHS)) % BLAME_LONG_EPOCHS];
  __u64 begin = epoch->begin_ns > from_ns ? epoch->begin_ns : from_ns;
  if (begin >= to_ns) return to_ns;
  /* In µs, because the product of two times must be less than 2^64. */
  __u64 length_us = (to_ns - epoch->begin_ns) / 1000 + 1, part_us = (to_ns - begin) / 1000;
  __u64 rest = to_ns - begin;
  /* Unrolled: Linux 6.1 refuses a loop that begins right after a call. */
#pragma unroll
  for (__u32 i = 0; i < BLAME_EPOCH_SLOTS; ++i) {
    __u64 ns = epoch->ns[i];
    if (begin != epoch->begin_ns) ns = ns / 1000 * part_us / length_us * 1000;
    if (ns > rest) ns = rest;
    if (!ns) continue;
    charge(victim, epoch->slots[i], ns);
    rest -= ns;
  }
  if (rest) charge(victim, BLAME_UNKNOWN, rest);
  return begin;
}

/* Charges the cgroups that ran on a CPU between two times with the wait of the victim. */
static __noinline int blame(const struct blame_cpu* cpu, __u32 number, __u32 victim, __u64 from_ns, __u64 to_ns) {
  to_ns = blame_segment(victim, cpu->current.slot, cpu->current.begin_ns, from_ns, to_ns);
  for (__u32 i = 0; i < BLAME_SEGMENTS && i < cpu->n_segments && to_ns > from_ns; ++i) {
    const struct blame_segment* segment = &cpu->segments[(cpu->n_segments - 1 - i) % BLAME_SEGMENTS];
    to_ns = blame_segment(victim, segment->slot, segment->begin_ns, from_ns, to_ns);
  }
  for (__u32 age = 0; age < BLAME_EPOCHS + BLAME_LONG_EPOCHS && to_ns > from_ns; ++age) {
    if (age < BLAME_EPOCHS ? age >= cpu->n_epochs : age - BLAME_EPOCHS >= cpu->n_long_epochs) break;
    to_ns = blame_epoch(number, age, victim, from_ns, to_ns);
  }
  if (to_ns > from_ns) charge(victim, BLAME_UNKNOWN, to_ns - from_ns);
  return 0;
}
