// SPDX-License-Identifier: Apache-2.0
// Measures how long threads must reclaim or compact memory before they get memory, per cgroup. Two variants yield the
// same histograms:
//   task_storage    stores the start of a stall in the thread's storage
//   raw_tracepoint  stores it in a hash by thread id, for kernels without BTF-typed tracepoints
// Each variant also has a program for the removal of cgroups. User space loads the programs of one variant only.
//
// Begin and end of a stall are in one thread, which may sleep and move to a different CPU in between. A stall is rare
// and takes long compared to these programs, so they are not optimized for speed. Nothing runs while memory is
// sufficient.
#define LATENCY_HISTOGRAM_MAP BPF_MAP_TYPE_ARRAY
#include "cgroup_histograms.bpf.h"

#include "memory_latency.h"

#include <bpf/bpf_tracing.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

#define PF_KTHREAD 0x00200000 /* since 2.6.27 */

// Compaction in the background (kcompactd) delays no task.
static __always_inline bool is_background(const struct task_struct* task, __u32 kind) {
  return kind == MEMORY_STALL_COMPACTION && BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

// Returns the cgroup state that is charged for a delayed thread: the memory controller's state on v1, or the thread's
// own cgroup on v2, because there the cgroup may lack the controller.
static __always_inline const struct cgroup_subsys_state* css_of(const struct task_struct* task) {
  const struct css_set* set = BPF_CORE_READ(task, cgroups);
  if (hierarchy_id == 0) return &BPF_CORE_READ(set, dfl_cgrp)->self;
  int index = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
  const struct cgroup_subsys_state* css = NULL;
  bpf_core_read(&css, sizeof(css), &set->subsys[index]);
  return css;
}

static __always_inline void charge(const struct task_struct* task, __u32 kind, __u64 since_ns) {
  const struct cgroup_subsys_state* css = css_of(task);
  __u32 slot = slot_of(css, BPF_CORE_READ(css, serial_nr));
  add_delay_shared(slot * MEMORY_STALL_KINDS + kind, bpf_ktime_get_ns() - since_ns);
}

// ---- task_storage

struct thread_stalls {
  __u64 since_ns[MEMORY_STALL_KINDS];  // 0: no stall of that kind
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_stalls);
} threads SEC(".maps");

// The storage is allocated at a thread's first stall, in the middle of reclaim. This allocation uses the reserves or
// fails, but never reclaims. If it fails, the end of the stall finds no start.
static __always_inline int begin_stall(__u32 kind) {
  struct task_struct* task = bpf_get_current_task_btf();
  if (is_background(task, kind)) return 0;
  struct thread_stalls* stalls = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (stalls) stalls->since_ns[kind] = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int end_stall(__u32 kind) {
  struct task_struct* task = bpf_get_current_task_btf();
  if (is_background(task, kind)) return 0;
  struct thread_stalls* stalls = bpf_task_storage_get(&threads, task, 0, 0);
  if (!stalls || !stalls->since_ns[kind]) {
    count_lost_begin();
    return 0;
  }
  charge(task, kind, stalls->since_ns[kind]);
  stalls->since_ns[kind] = 0;
  return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup) {
  release_slot_of(cgroup);
  return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_memcg_reclaim_begin) { return begin_stall(MEMORY_STALL_MEMCG_RECLAIM); }

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_memcg_reclaim_end) { return end_stall(MEMORY_STALL_MEMCG_RECLAIM); }

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_direct_reclaim_begin) { return begin_stall(MEMORY_STALL_DIRECT_RECLAIM); }

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_direct_reclaim_end) { return end_stall(MEMORY_STALL_DIRECT_RECLAIM); }

SEC("tp_btf/mm_compaction_begin")
int BPF_PROG(on_compaction_begin) { return begin_stall(MEMORY_STALL_COMPACTION); }

SEC("tp_btf/mm_compaction_end")
int BPF_PROG(on_compaction_end) { return end_stall(MEMORY_STALL_COMPACTION); }

// ---- raw_tracepoint

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // maximum number of threads in a stall at the same time, set before loading
  __type(key, __u64);
  __type(value, __u64);
} stalled_threads SEC(".maps");

// Stalls of different kinds may nest, stalls of one kind cannot.
static __always_inline __u64 key_of(__u32 kind) { return (bpf_get_current_pid_tgid() & 0xffffffff) << 8 | kind; }

static __always_inline int begin_hashed_stall(__u32 kind) {
  const struct task_struct* task = (const void*)bpf_get_current_task();
  if (is_background(task, kind)) return 0;
  __u64 key = key_of(kind);
  __u64 now = bpf_ktime_get_ns();
  bpf_map_update_elem(&stalled_threads, &key, &now, BPF_ANY);
  return 0;
}

static __always_inline int end_hashed_stall(__u32 kind) {
  const struct task_struct* task = (const void*)bpf_get_current_task();
  if (is_background(task, kind)) return 0;
  __u64 key = key_of(kind);
  __u64* since = bpf_map_lookup_elem(&stalled_threads, &key);
  if (!since) {
    count_lost_begin();
    return 0;
  }
  charge(task, kind, *since);
  bpf_map_delete_elem(&stalled_threads, &key);
  return 0;
}

SEC("raw_tp/cgroup_rmdir")
int raw_on_cgroup_rmdir(struct bpf_raw_tracepoint_args* context) {
  release_slot_of((const struct cgroup*)context->args[0]);
  return 0;
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_begin")
int raw_on_memcg_reclaim_begin(void* context) { return begin_hashed_stall(MEMORY_STALL_MEMCG_RECLAIM); }

SEC("raw_tp/mm_vmscan_memcg_reclaim_end")
int raw_on_memcg_reclaim_end(void* context) { return end_hashed_stall(MEMORY_STALL_MEMCG_RECLAIM); }

SEC("raw_tp/mm_vmscan_direct_reclaim_begin")
int raw_on_direct_reclaim_begin(void* context) { return begin_hashed_stall(MEMORY_STALL_DIRECT_RECLAIM); }

SEC("raw_tp/mm_vmscan_direct_reclaim_end")
int raw_on_direct_reclaim_end(void* context) { return end_hashed_stall(MEMORY_STALL_DIRECT_RECLAIM); }

SEC("raw_tp/mm_compaction_begin")
int raw_on_compaction_begin(void* context) { return begin_hashed_stall(MEMORY_STALL_COMPACTION); }

SEC("raw_tp/mm_compaction_end")
int raw_on_compaction_end(void* context) { return end_hashed_stall(MEMORY_STALL_COMPACTION); }
