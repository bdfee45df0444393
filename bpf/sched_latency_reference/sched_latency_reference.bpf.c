// SPDX-License-Identifier: Apache-2.0
// Reference programs for the benchmark of bpf/sched_latency, unused elsewhere. One program does nothing at each switch,
// which is the minimal cost of any program. The other program measures run queue latency in the usual way, with the
// start of the wait in a hash by thread id, a hash of histograms by cgroup, and atomic additions.
#include "kernel_fixes.bpf.h"

#include <bpf/bpf_tracing.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

struct reference_histogram {
  __u64 sum_ns;
  __u64 buckets[26];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, __u32);
  __type(value, __u64);
} begins SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u64);
  __type(value, struct reference_histogram);
} by_cgroup SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(empty_on_switch) { return 0; }

static __always_inline void note_begin(const struct task_struct* task) {
  __u32 tid = task->pid;
  __u64 now = bpf_ktime_get_ns();
  bpf_map_update_elem(&begins, &tid, &now, BPF_ANY);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(usual_on_wakeup, struct task_struct* task) {
  note_begin(task);
  return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(usual_on_wakeup_new, struct task_struct* task) {
  note_begin(task);
  return 0;
}

static __always_inline struct reference_histogram* histogram_of(__u64 cgroup) {
  static const struct reference_histogram empty;
  struct reference_histogram* found = bpf_map_lookup_elem(&by_cgroup, &cgroup);
  if (found) return found;
  bpf_map_update_elem(&by_cgroup, &cgroup, &empty, BPF_NOEXIST);
  return bpf_map_lookup_elem(&by_cgroup, &cgroup);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(usual_on_switch, bool preempt, struct task_struct* prev, struct task_struct* next) {
  if (prev->pid && (preempt || is_in_running_state(prev))) note_begin(prev);
  __u32 tid = next->pid;
  __u64* begin = tid ? bpf_map_lookup_elem(&begins, &tid) : NULL;
  if (!begin) return 0;
  __u64 delay_ns = bpf_ktime_get_ns() - *begin;
  bpf_map_delete_elem(&begins, &tid);
  struct reference_histogram* histogram = histogram_of(next->cgroups->dfl_cgrp->kn->id);
  if (!histogram) return 0;
  __u32 bucket = 0;
  for (__u64 us = delay_ns / 1000; us && bucket < 25; us >>= 1) ++bucket;
  __sync_fetch_and_add(&histogram->sum_ns, delay_ns);
  __sync_fetch_and_add(&histogram->buckets[bucket], 1);
  return 0;
}
