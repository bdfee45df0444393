/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel types our programs read, and of those only the fields they read. Offsets are found when a program
 * is loaded, in the BTF of the kernel it is loaded into, so one object serves every kernel and the machine
 * that builds it needs no BTF. */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The members that matter are looked up by name; the value is the kernel's own (bpf_core_enum_value). */
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
  __u64 serial_nr; /* counts up over all hierarchies, never used twice */
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
  int throttle_count; /* quotas, its own and those above it, that are used up */
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
  unsigned int __data_len; /* bytes that are not done yet */
  struct bio* bio;
  __u64 start_time_ns; /* when it was made; 0 when the queue keeps no times */
};

#pragma clang attribute pop
