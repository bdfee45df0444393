/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between kernels. Each is one function that checks the BTF of the loaded kernel, never its version. A
 * `___name` flavour declares the same kernel type as it is in a different kernel. */
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

/* The same without a helper, for programs with pointers that the verifier tracks. */
static __always_inline bool is_runnable(const struct task_struct* task) {
  const struct task_struct___before_5_14* old = (const void*)task;
  if (bpf_core_field_exists(task->__state)) return task->__state == 0;
  return old->state == 0;
}

/* Returns the time for which CPU quotas, of the cgroup or its ancestors, stopped a run queue of a cgroup. The value
 * changes when such a time ends. 6.6 counts it for each queue (677ea015f231). The older field, renamed in 5.19
 * (64eaf50731ac), counts even while no thread is waiting. 0: the kernel has no quotas. */
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

/* Returns the same for a thread's cgroup on a different CPU. */
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

/* Returns whether a CPU quota stops the run queue of a cgroup now. */
static __always_inline bool is_throttled(const struct cfs_rq* queue) {
  return bpf_core_field_exists(queue->throttle_count) && BPF_CORE_READ(queue, throttle_count) > 0;
}

/* Returns the value of a per-CPU map's entry on a different CPU. Always NULL before 5.19 (07343110b293). */
static __always_inline void* value_on_cpu(void* map, const __u32* key, __u32 cpu) {
  if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_map_lookup_percpu_elem)) return NULL;
  return bpf_map_lookup_percpu_elem(map, key, cpu);
}

/* Returns the inode number of the cgroup's directory. It is the whole id since 5.5 (67c0496e87d1), and the lower half
 * of the id before 5.5. */
static __always_inline __u64 directory_inode(const struct cgroup* cgroup) {
  const struct kernfs_node* node = BPF_CORE_READ(cgroup, kn);
  const struct kernfs_node___before_5_5* old = (const void*)node;
  if (bpf_core_type_exists(union kernfs_node_id___before_5_5)) return BPF_CORE_READ(old, id.id) & 0xffffffff;
  return BPF_CORE_READ(node, id);
}

/* Returns the disk. 5.15 added it to the queue (d152c682f03c), and 5.17 removed it from the request (f3fa33acca9f). */
static __always_inline const struct gendisk* disk_of(const struct request* request) {
  const struct request___before_5_17* old = (const void*)request;
  const struct request_queue* queue = BPF_CORE_READ(request, q);
  if (bpf_core_field_exists(queue->disk)) return BPF_CORE_READ(queue, disk);
  return BPF_CORE_READ(old, rq_disk);
}

/* Returns the issued request. Until 5.11 the first argument of the tracepoint was the queue (a54895fa057c); that change
 * also removed hd_struct. */
static __always_inline const struct request* issued_request(const __u64* arguments) {
  if (!bpf_core_type_exists(struct hd_struct)) return (const struct request*)arguments[0];
  __u64 second = arguments[1];
  asm volatile("" : "+r"(second)); /* otherwise the compiler merges both reads into one at a variable offset */
  return (const struct request*)second;
}
