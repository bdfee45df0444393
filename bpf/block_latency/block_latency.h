/* SPDX-License-Identifier: Apache-2.0 */
/* Types and maps shared by the block latency programs and user space. The device time of a request lasts from its issue
 * to its completion. It is charged to the cgroup that owns the data. The cgroup's slot has one histogram for reads and
 * one for writes (see latency_slots.h). Each pair of cgroup and device also has a row of totals. */
#pragma once

#ifndef __BPF__
#include <linux/types.h>
#endif

#define BLOCK_READ 0
#define BLOCK_WRITE 1
#define BLOCK_HISTOGRAMS 2 /* one for reads, one for writes */
#define BLOCK_OTHER 2      /* flush, discard, … */
#define BLOCK_OPERATIONS 3

struct block_row_key {
  __u32 slot;   /* LATENCY_NO_CGROUP_SLOT, too, if a request has no cgroup: flushes of a device's cache */
  __u32 device; /* major << 20 | minor */
};

struct block_operation_totals {
  __u64 requests;
  __u64 bytes;
  __u64 device_ns;
  __u64 queue_ns; /* time from the allocation of the request to its issue */
};

struct block_row {
  struct block_operation_totals operations[BLOCK_OPERATIONS];
};
