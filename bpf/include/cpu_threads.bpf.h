/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for a CPU, and storage of theirs. The storage is made where threads are made or listed, never in
 * the scheduler: an allocation may wake kswapd, which takes a run queue's lock, and the scheduler holds one.
 *
 * The includer defines `make_storage(struct task_struct*)` and has the two programs run before those that need it. */
#pragma once

#include "cgroup_slots.bpf.h"

#include <bpf/bpf_tracing.h>

static __always_inline void make_storage(struct task_struct* task);

SEC("iter/task")
int for_each_existing_thread(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (task) make_storage(task);
  return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(for_each_new_thread, struct task_struct* task) {
  make_storage(task);
  return 0;
}

/* In any hierarchy. */
SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup) {
  release_slot_of(cgroup);
  return 0;
}

/* The cgroup state a thread is accounted in: the cpu controller's on cgroup v1, the cgroup itself on v2, which may not
 * have the controller. */
static __always_inline const struct cgroup_subsys_state* css_of(const struct task_struct* task) {
  if (hierarchy_id == 0) return &task->cgroups->dfl_cgrp->self;
  return task->cgroups->subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)];
}

/* Returns what the kernel will add to the run delay of a thread that comes to a CPU at `now` of its run queue's clock
 * (/proc/<tid>/schedstat), to the nanosecond. `last_queued` is set until just after, and the clock does not move before
 * it is used. When a waiting thread is moved to another CPU's queue, its wait until then has been added already. */
static __always_inline __u64 delay_until(const struct task_struct* task, __u64 now) {
  __u64 queued = task->sched_info.last_queued;
  return queued && now > queued ? now - queued : 0;
}
