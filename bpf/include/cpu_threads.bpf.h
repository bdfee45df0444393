/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for a CPU, and their task storage. The storage is allocated when threads are created or listed,
 * never in the scheduler, because an allocation may wake kswapd, which takes a run queue's lock, and the scheduler
 * already holds a run queue's lock.
 *
 * The file that includes this defines `make_storage(struct task_struct*)`, and starts the two programs before the
 * programs that need the storage. */
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

/* Called for cgroups of any hierarchy. */
SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup) {
  release_slot_of(cgroup);
  return 0;
}

/* Returns the cgroup state in which a thread is accounted: the state of the cpu controller on cgroup v1, or the cgroup
 * itself on v2, because there the cgroup may lack the controller. */
static __always_inline const struct cgroup_subsys_state* css_of(const struct task_struct* task) {
  if (hierarchy_id == 0) return &task->cgroups->dfl_cgrp->self;
  return task->cgroups->subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)];
}

/* Returns the time that the kernel will add to the run delay (/proc/<tid>/schedstat) of a thread that gets a CPU at
 * `now` of its run queue's clock, to the nanosecond. `last_queued` stays set until just after that, and the clock does
 * not advance before it is used. When a waiting thread is moved to a different CPU, the kernel has already added the
 * wait until the move. */
static __always_inline __u64 delay_until(const struct task_struct* task, __u64 now) {
  __u64 queued = task->sched_info.last_queued;
  return queued && now > queued ? now - queued : 0;
}
