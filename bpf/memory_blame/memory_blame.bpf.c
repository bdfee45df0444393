// SPDX-License-Identifier: Apache-2.0
// Counts the pages that threads of a cgroup had to free before they got memory. The cgroup that needs the memory is
// charged, whichever cgroup loses the pages. Nothing runs while memory is sufficient.
#include "cgroup_slots.bpf.h"

#include "memory_blame.h"

#include <bpf/bpf_tracing.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // number of slots, set before loading
  __type(key, __u32);
  __type(value, struct memory_blame_slot);
} blame_slots SEC(".maps");

// Uses the memory controller's cgroup on v1, and the thread's own cgroup on v2, because there it may lack the
// controller.
static __always_inline struct memory_blame_slot* slot_of_current(void) {
  const struct css_set* set = BPF_CORE_READ(bpf_get_current_task_btf(), cgroups);
  const struct cgroup_subsys_state* css = NULL;
  if (hierarchy_id == 0) {
    css = &BPF_CORE_READ(set, dfl_cgrp)->self;
  } else {
    int index = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
    bpf_core_read(&css, sizeof(css), &set->subsys[index]);
  }
  __u32 slot = slot_of(css, BPF_CORE_READ(css, serial_nr));
  return bpf_map_lookup_elem(&blame_slots, &slot);
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup) {
  release_slot_of(cgroup);
  return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(count_memcg_reclaim, unsigned long pages) {
  struct memory_blame_slot* slot = slot_of_current();
  if (slot) __sync_fetch_and_add(&slot->at_limit, pages);
  return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(count_direct_reclaim, unsigned long pages) {
  struct memory_blame_slot* slot = slot_of_current();
  if (slot) __sync_fetch_and_add(&slot->on_node, pages);
  return 0;
}
