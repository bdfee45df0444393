/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of requests to block devices. */
#pragma once

#include "kernel_fixes.bpf.h"

/* Since Linux 4.10, the lowest byte is the operation. */
#define OPERATION_MASK 0xff

/* 0 is a read, 1 a write. */
static __always_inline __u32 kernel_operation_of(const struct request* request) {
  return BPF_CORE_READ(request, cmd_flags) & OPERATION_MASK;
}

/* Returns major << 20 | minor. */
static __always_inline __u32 device_of(const struct request* request) {
  const struct gendisk* disk = disk_of(request);
  if (!disk) return 0;
  return (__u32)BPF_CORE_READ(disk, major) << 20 | (__u32)BPF_CORE_READ(disk, first_minor);
}

/* Returns the blkio cgroup (v1) or io cgroup (v2) that owns the data of the request, whichever task submits it. NULL:
 * no cgroup owns it, or the kernel lacks CONFIG_BLK_CGROUP. */
static __always_inline const struct cgroup_subsys_state* css_of(const struct request* request) {
  const struct bio* bio = BPF_CORE_READ(request, bio);
  if (!bio || !bpf_core_field_exists(bio->bi_blkg)) return NULL;
  const struct blkcg_gq* group = BPF_CORE_READ(bio, bi_blkg);
  const struct blkcg* blkcg = group ? BPF_CORE_READ(group, blkcg) : NULL;
  return blkcg ? &blkcg->css : NULL;
}
