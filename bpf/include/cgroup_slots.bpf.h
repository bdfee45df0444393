/* SPDX-License-Identifier: Apache-2.0 */
/* The slot of a cgroup; latency_slots.h describes how slots are claimed and freed. Frequent operations are array
 * lookups; the hash is read only when a cgroup is first seen. The file that includes this defines the content of a
 * slot. */
#pragma once

#include "kernel_fixes.bpf.h"
#include "latency_slots.h"

/* The number in /proc/self/cgroup of the hierarchy in which delays are accounted; 0 is v2. Set before loading. */
const volatile int hierarchy_id = 0;

/* The cgroup of each slot; 0: none. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1); /* number of slots, set before loading, as in the maps below */
  __type(key, __u32);
  __type(value, __u64);
} slot_owners SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, __u64);
  __type(value, __u32);
} cgroup_slots SEC(".maps");

/* A stack, because freed slots are reused first. So the slots in use stay low and user space reads few slots. */
struct {
  __uint(type, BPF_MAP_TYPE_STACK);
  __uint(max_entries, 1);
  __type(value, __u32);
} free_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_QUEUE);
  __uint(max_entries, 1);
  __type(value, struct latency_ended);
} ended_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, LATENCY_CACHE_ENTRIES);
  __type(key, __u32);
  __type(value, __u64);
} slot_cache SEC(".maps");

/* Number of delays with a lost start. They are in no histogram. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} lost_begins SEC(".maps");

#define CSS_ONLINE (1u << 1) /* since 3.12 */

static __always_inline bool is_online(const struct cgroup* cgroup) {
  return BPF_CORE_READ(cgroup, self.flags) & CSS_ONLINE;
}

static __always_inline void end_slot(__u64 id, __u32 slot) {
  /* Only the caller that removes the entry owns the slot, because a removal may race with a claim. */
  if (bpf_map_delete_elem(&cgroup_slots, &id)) return;
  struct latency_ended ended = {.cgroup = id, .slot = slot};
  bpf_map_push_elem(&ended_slots, &ended, BPF_ANY);
}

static __noinline __u32 claim_slot(__u64 id) {
  __u32 slot;
  if (bpf_map_pop_elem(&free_slots, &slot)) return LATENCY_SLOT_UNAVAILABLE;
  if (bpf_map_update_elem(&cgroup_slots, &id, &slot, BPF_NOEXIST) == 0) {
    __u64* owner = bpf_map_lookup_elem(&slot_owners, &slot);
    if (owner) *owner = id;
    return slot;
  }
  bpf_map_push_elem(&free_slots, &slot, BPF_ANY);
  __u32* others = bpf_map_lookup_elem(&cgroup_slots, &id); /* a different CPU saw the cgroup at the same time */
  return others ? *others : LATENCY_SLOT_UNAVAILABLE;
}

static __always_inline __u32 find_or_claim_slot(const struct cgroup* cgroup) {
  __u64 id = directory_inode(cgroup);
  __u32* known = bpf_map_lookup_elem(&cgroup_slots, &id);
  if (known) return *known;
  __u32 slot = claim_slot(id);
  /* The last thread of a removed cgroup may still run. Its removal was announced already and will not be announced
   * again. */
  if (slot != LATENCY_SLOT_UNAVAILABLE && !is_online(cgroup)) {
    end_slot(id, slot);
    return LATENCY_SLOT_UNAVAILABLE;
  }
  return slot;
}

static __always_inline __u32 slot_of(const struct cgroup_subsys_state* css, __u64 serial) {
  __u32 index = serial % LATENCY_CACHE_ENTRIES;
  __u64* entry = bpf_map_lookup_elem(&slot_cache, &index);
  if (!entry) return LATENCY_NO_CGROUP_SLOT;
  __u64 cached = *(volatile __u64*)entry;
  if (!cached || cached >> LATENCY_SLOT_BITS != serial) {
    cached = serial << LATENCY_SLOT_BITS | find_or_claim_slot(BPF_CORE_READ(css, cgroup));
    *(volatile __u64*)entry = cached;
  }
  __u32 slot = cached & ((1 << LATENCY_SLOT_BITS) - 1);
  return slot == LATENCY_SLOT_UNAVAILABLE ? LATENCY_NO_CGROUP_SLOT : slot;
}

static __always_inline void count_lost_begin(void) {
  __u32 zero = 0;
  __u64* lost = bpf_map_lookup_elem(&lost_begins, &zero);
  if (lost) __sync_fetch_and_add(lost, 1);
}

static __always_inline void release_slot_of(const struct cgroup* cgroup) {
  if (BPF_CORE_READ(cgroup, root, hierarchy_id) != hierarchy_id) return;
  __u64 id = directory_inode(cgroup);
  __u32* slot = bpf_map_lookup_elem(&cgroup_slots, &id);
  if (slot) end_slot(id, *slot);
}
