/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between kernels. Each is one function that checks the BTF of the loaded kernel, never its
 * version. A `___name` flavour is the same kernel type as another kernel declares it. */
#pragma once

#include "kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct___before_5_14 {
  volatile long state;
};

union kernfs_node_id___before_5_5 {
  __u64 id;
};

struct kernfs_node___before_5_5 {
  union kernfs_node_id___before_5_5 id;
};

struct cfs_rq___before_6_6 {
  __u64 throttled_clock_pelt_time;
};

struct cfs_rq___before_5_19 {
  __u64 throttled_clock_task_time;
};

struct request___before_5_17 {
  struct gendisk* rq_disk;
};

struct hd_struct {
  int partno;
};

#pragma clang attribute pop

/* 5.14 renamed `state` to `__state` and narrowed it (2f064a59a11f). */
static __always_inline bool is_in_running_state(const struct task_struct* task) {
  const struct task_struct___before_5_14* old = (const void*)task;
  if (bpf_core_field_exists(task->__state)) return BPF_CORE_READ(task, __state) == 0;
  return BPF_CORE_READ(old, state) == 0;
}

/* The same without a helper, for programs with pointers that the verifier follows. */
static __always_inline bool is_runnable(const struct task_struct* task) {
  const struct task_struct___before_5_14* old = (const void*)task;
  if (bpf_core_field_exists(task->__state)) return task->__state == 0;
  return old->state == 0;
}

/* The time that CPU quotas, its own or those above it, took from a run queue of a cgroup. It changes when such a time
 * ends. 6.6 counts it for each queue (677ea015f231); the older field, renamed in 5.19 (64eaf50731ac), also runs while
 * no thread is waiting. 0: the kernel has no quotas. */
static __always_inline __u64 throttled_time_of(const struct cfs_rq* queue) {
  const struct cfs_rq___before_6_6* before_6_6 = (const void*)queue;
  const struct cfs_rq___before_5_19* before_5_19 = (const void*)queue;
  if (bpf_core_field_exists(queue->throttled_clock_self_time)) return queue->throttled_clock_self_time;
  if (bpf_core_field_exists(before_6_6->throttled_clock_pelt_time))
    return BPF_CORE_READ(before_6_6, throttled_clock_pelt_time);
  if (bpf_core_field_exists(before_5_19->throttled_clock_task_time))
    return BPF_CORE_READ(before_5_19, throttled_clock_task_time);
  return 0;
}

/* The same of a thread's cgroup on another CPU. */
static __always_inline __u64 throttled_time_on(const struct task_struct* task, __u32 cpu) {
  struct cfs_rq** queues = BPF_CORE_READ(task, sched_task_group, cfs_rq);
  const struct cfs_rq* queue = NULL;
  if (bpf_probe_read_kernel(&queue, sizeof(queue), &queues[cpu])) return 0;
  const struct cfs_rq___before_6_6* before_6_6 = (const void*)queue;
  const struct cfs_rq___before_5_19* before_5_19 = (const void*)queue;
  if (bpf_core_field_exists(queue->throttled_clock_self_time)) return BPF_CORE_READ(queue, throttled_clock_self_time);
  if (bpf_core_field_exists(before_6_6->throttled_clock_pelt_time))
    return BPF_CORE_READ(before_6_6, throttled_clock_pelt_time);
  if (bpf_core_field_exists(before_5_19->throttled_clock_task_time))
    return BPF_CORE_READ(before_5_19, throttled_clock_task_time);
  return 0;
}

/* Whether a CPU quota holds the run queue of a cgroup now. */
static __always_inline bool is_throttled(const struct cfs_rq* queue) {
  return bpf_core_field_exists(queue->throttle_count) && BPF_CORE_READ(queue, throttle_count) > 0;
}

/* The value of a per-CPU map's entry on another CPU; NULL before 5.19 (07343110b293), too. */
static __always_inline void* value_on_cpu(void* map, const __u32* key, __u32 cpu) {
  if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_map_lookup_percpu_elem)) return NULL;
  return bpf_map_lookup_percpu_elem(map, key, cpu);
}

/* The inode number of the cgroup's directory: the whole id since 5.5 (67c0496e87d1), its lower half before. */
static __always_inline __u64 directory_inode(const struct cgroup* cgroup) {
  const struct kernfs_node* node = BPF_CORE_READ(cgroup, kn);
  const struct kernfs_node___before_5_5* old = (const void*)node;
  if (bpf_core_type_exists(union kernfs_node_id___before_5_5)) return BPF_CORE_READ(old, id.id) & 0xffffffff;
  return BPF_CORE_READ(node, id);
}

/* 5.15 gave the queue its disk (d152c682f03c), 5.17 took it from the request (f3fa33acca9f). */
static __always_inline const struct gendisk* disk_of(const struct request* request) {
  const struct request___before_5_17* old = (const void*)request;
  const struct request_queue* queue = BPF_CORE_READ(request, q);
  if (bpf_core_field_exists(queue->disk)) return BPF_CORE_READ(queue, disk);
  return BPF_CORE_READ(old, rq_disk);
}

/* The first argument of the tracepoint was the queue until 5.11 (a54895fa057c), which removed hd_struct, too. */
static __always_inline const struct request* issued_request(const __u64* arguments) {
  if (!bpf_core_type_exists(struct hd_struct)) return (const struct request*)arguments[0];
  __u64 second = arguments[1];
  asm volatile("" : "+r"(second)); /* so that the compiler does not make one access at a variable offset of both */
  return (const struct request*)second;
}
