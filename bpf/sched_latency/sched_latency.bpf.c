// SPDX-License-Identifier: Apache-2.0
// Measures how long threads wait for a CPU, per cgroup. Three variants yield the same histograms; user space loads the
// cheapest variant that the kernel accepts:
//   sched_info      one program: the scheduler itself records the wait of a thread
//   task_storage    wakeup and switch, with the start of a wait in the thread's storage
//   raw_tracepoint  the same with a hash by thread id, for kernels without BTF-typed tracepoints
// Each variant also has a program for the removal of cgroups. User space loads the programs of one variant only.
#define LATENCY_HISTOGRAM_MAP BPF_MAP_TYPE_PERCPU_ARRAY
#include <linux/errno.h>
#include "cgroup_histograms.bpf.h"
#include "cpu_threads.bpf.h"
#include "throttled_waits.bpf.h"

#include "sched_latency.h"

char program_license[] SEC("license") = "Dual BSD/GPL";

#define CLOCKS_DIFFER_NS 1000000  // maximum difference between two CPUs

// State of a thread between its events.
struct thread_waits {
  __u64 charged_ns;         // sched_info: the thread's run delay when it was last charged
  __u64 runnable_since_ns;  // task_storage: start of its wait; 0: not waiting
  // sched_info: when the thread last left a CPU while runnable, the throttled time of its run queue at that time, and
  // 1 + the CPU.
  __u64 left_ns, left_throttled_ns, left_cpu;
};

// ---- storage of threads, for sched_info and task_storage

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_waits);
} threads SEC(".maps");

static __always_inline void make_storage(struct task_struct* task) {
  struct thread_waits* waits = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (waits) waits->charged_ns = task->sched_info.run_delay;
}

// ---- sched_info

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);  // number of slots, set before loading
  __type(key, __u32);
  __type(value, struct sched_throttled);
} throttled_slots SEC(".maps");

static __always_inline void leave_cpu(struct task_struct* prev, bool preempt, __u32 number, __u64 now) {
  __u64 throttled = throttled_time_of(prev->se.cfs_rq);
  struct thread_waits* waits = preempt || is_runnable(prev) ? bpf_task_storage_get(&threads, prev, 0, 0) : NULL;
  if (waits) {
    waits->left_ns = now;
    waits->left_throttled_ns = throttled;
    waits->left_cpu = number + 1;
  }
  if (!throttled) return;
  const struct cgroup_subsys_state* css = css_of(prev);
  __u32 index = slot_of(css, css->serial_nr);
  struct sched_throttled* slot = bpf_map_lookup_elem(&throttled_slots, &index);
  if (slot) slot->last.left_ns = now;
}

// Returns the throttled part of a wait that ends now; the kernel includes it in the run delay. `throttled`: the
// throttled time of the run queue.
static __always_inline __u64 take_throttled(struct task_struct* next, struct thread_waits* waits, __u32 index,
                                            __u64 throttled, __u64 delay, __u64 now) {
  __u32 number = bpf_get_smp_processor_id();
  struct sched_throttled* slot = bpf_map_lookup_elem(&throttled_slots, &index);
  if (!slot) return 0;
  __u64 part = throttled_part(&slot->last, throttled, now - delay, now);
  if (waits->left_cpu == number + 1 && now - delay <= waits->left_ns) {
    part = throttled - waits->left_throttled_ns;  // it has waited since it left this CPU
  } else if (waits->left_cpu && waits->left_cpu != number + 1 && delay + CLOCKS_DIFFER_NS >= now - waits->left_ns) {
    __u64 there = throttled_time_on(next, waits->left_cpu - 1);  // it left a different CPU
    part = there > waits->left_throttled_ns ? there - waits->left_throttled_ns : 0;
  }
  if (part > delay) part = delay;
  slot->throttled_ns += part;
  return part;
}

// Compares with the thread's run delay at its last turn, because the kernel may have added a part of the wait after
// that turn.
SEC("tp_btf/sched_switch")
int BPF_PROG(sched_info_on_switch, bool preempt, struct task_struct* prev, struct task_struct* next) {
  __u64 now = next->se.cfs_rq->rq->clock;
  if (prev->pid) leave_cpu(prev, preempt, bpf_get_smp_processor_id(), now);
  if (!next->pid) return 0;
  __u64 queued = next->sched_info.last_queued;
  __u64 delay = delay_until(next, now);
  struct thread_waits* waits = bpf_task_storage_get(&threads, next, 0, 0);
  if (waits) {
    __u64 run_delay = next->sched_info.run_delay + delay;
    delay = run_delay - waits->charged_ns;
    waits->charged_ns = run_delay;
  } else {
    count_lost_begin();
  }
  if (!queued && !delay) return 0;
  const struct cgroup_subsys_state* css = css_of(next);
  __u32 index = slot_of(css, css->serial_nr);
  __u64 throttled = throttled_time_of(next->se.cfs_rq);
  if (throttled && waits) delay -= take_throttled(next, waits, index, throttled, delay, now);
  add_delay(index, delay);
  return 0;
}

// ---- task_storage

static __always_inline void begin_wait(struct task_struct* task) {
  struct thread_waits* waits = bpf_task_storage_get(&threads, task, 0, 0);
  if (!waits)
    count_lost_begin();
  else if (!waits->runnable_since_ns)
    waits->runnable_since_ns = bpf_ktime_get_ns();
}

// A thread that is still on its CPU does not wait, because it was woken before it slept.
SEC("tp_btf/sched_wakeup")
int BPF_PROG(task_storage_on_wakeup, struct task_struct* task) {
  if (!task->on_cpu) begin_wait(task);
  return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(task_storage_on_wakeup_new, struct task_struct* task) {
  begin_wait(task);
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(task_storage_on_switch, bool preempt, struct task_struct* prev, struct task_struct* next) {
  if (prev->pid && (preempt || is_in_running_state(prev))) begin_wait(prev);
  if (!next->pid) return 0;
  struct thread_waits* waits = bpf_task_storage_get(&threads, next, 0, 0);
  if (!waits || !waits->runnable_since_ns) return 0;
  const struct cgroup_subsys_state* css = css_of(next);
  add_delay(slot_of(css, css->serial_nr), bpf_ktime_get_ns() - waits->runnable_since_ns);
  waits->runnable_since_ns = 0;
  return 0;
}

// ---- raw_tracepoint

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // maximum number of threads that wait at the same time, set before loading
  __type(key, __u32);
  __type(value, __u64);
} runnable_threads SEC(".maps");

static __always_inline const struct cgroup_subsys_state* probed_css_of(const struct task_struct* task) {
  const struct css_set* set = BPF_CORE_READ(task, cgroups);
  if (hierarchy_id == 0) return &BPF_CORE_READ(set, dfl_cgrp)->self;
  int index = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
  const struct cgroup_subsys_state* css = NULL;
  bpf_core_read(&css, sizeof(css), &set->subsys[index]);
  return css;
}

static __always_inline void begin_hashed_wait(const struct task_struct* task) {
  __u32 tid = BPF_CORE_READ(task, pid);
  __u64 now = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&runnable_threads, &tid, &now, BPF_NOEXIST) == -E2BIG) count_lost_begin();
}

SEC("raw_tp/cgroup_rmdir")
int raw_on_cgroup_rmdir(struct bpf_raw_tracepoint_args* context) {
  release_slot_of((const struct cgroup*)context->args[0]);
  return 0;
}

SEC("raw_tp/sched_wakeup")
int raw_on_wakeup(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = (const void*)context->args[0];
  if (!BPF_CORE_READ(task, on_cpu)) begin_hashed_wait(task);
  return 0;
}

SEC("raw_tp/sched_wakeup_new")
int raw_on_wakeup_new(struct bpf_raw_tracepoint_args* context) {
  begin_hashed_wait((const void*)context->args[0]);
  return 0;
}

SEC("raw_tp/sched_switch")
int raw_on_switch(struct bpf_raw_tracepoint_args* context) {
  bool preempt = context->args[0];
  const struct task_struct* prev = (const void*)context->args[1];
  const struct task_struct* next = (const void*)context->args[2];
  if (BPF_CORE_READ(prev, pid) && (preempt || is_in_running_state(prev))) begin_hashed_wait(prev);
  __u32 tid = BPF_CORE_READ(next, pid);
  __u64* since = tid ? bpf_map_lookup_elem(&runnable_threads, &tid) : NULL;
  if (!since) return 0;
  const struct cgroup_subsys_state* css = probed_css_of(next);
  add_delay(slot_of(css, BPF_CORE_READ(css, serial_nr)), bpf_ktime_get_ns() - *since);
  bpf_map_delete_elem(&runnable_threads, &tid);
  return 0;
}
