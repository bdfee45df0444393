/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel types that our programs read, each with only the fields that are read. Offsets are resolved when a program
 * is loaded, from the BTF of the running kernel. So one object works on every kernel, and the build machine needs no
 * BTF. */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Members are resolved by name; bpf_core_enum_value returns the kernel's own value. */
enum cgroup_subsys_id {
  cpu_cgrp_id = 1,
  io_cgrp_id = 3,
  memory_cgrp_id = 4,
  CGROUP_SUBSYS_COUNT = 16,
};

struct kernfs_node {
  __u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
  struct cgroup* cgroup;
  unsigned int flags;
  __u64 serial_nr; /* increases over all hierarchies and is never reused */
};

struct cgroup_root {
  int hierarchy_id;
};

struct cgroup {
  struct cgroup_subsys_state self;
  struct kernfs_node* kn;
  struct cgroup_root* root;
};

struct css_set {
  struct cgroup_subsys_state* subsys[CGROUP_SUBSYS_COUNT];
  struct cgroup* dfl_cgrp;
};

struct rq {
  __u64 clock;
  int cpu;
};

struct cfs_rq {
  struct rq* rq;
  __u64 throttled_clock_self_time;
  int throttle_count; /* number of exhausted quotas of its own cgroup and its ancestors */
};

struct task_group {
  struct cfs_rq** cfs_rq;
};

struct sched_entity {
  struct cfs_rq* cfs_rq;
};

struct sched_info {
  unsigned long long run_delay;
  unsigned long long last_queued;
};

struct task_struct {
  unsigned int __state;
  unsigned int flags;
  int on_cpu;
  int on_rq;
  struct sched_entity se;
  struct sched_info sched_info;
  struct task_group* sched_task_group;
  int pid;
  struct css_set* cgroups;
};

struct bpf_iter__task {
  struct task_struct* task;
};

struct blkcg {
  struct cgroup_subsys_state css;
};

struct blkcg_gq {
  struct blkcg* blkcg;
};

struct bio {
  struct blkcg_gq* bi_blkg;
};

struct gendisk {
  int major;
  int first_minor;
};

struct request_queue {
  struct gendisk* disk;
};

struct request {
  struct request_queue* q;
  unsigned int cmd_flags;
  unsigned int __data_len; /* bytes that are not completed yet */
  struct bio* bio;
  __u64 start_time_ns; /* time of its allocation; 0 if the queue records no times */
};

#pragma clang attribute pop
