/* SPDX-License-Identifier: Apache-2.0 */
/* What the block latency programs and their user share. A request's time on the device is from its issue to its
 * completion, charged to the cgroup whose data it moves; reads and writes have a histogram each in the cgroup's slot
 * (see latency_slots.h). Beside them there is a row of totals for each cgroup and device. */
#pragma once

#ifndef __BPF__
#include <linux/types.h>
#endif

#define BLOCK_READ 0
#define BLOCK_WRITE 1
#define BLOCK_HISTOGRAMS 2 /* of the operations before */
#define BLOCK_OTHER 2      /* flush, discard, … */
#define BLOCK_OPERATIONS 3

struct block_row_key {
  __u32 slot; /* LATENCY_NO_CGROUP_SLOT also for requests of nobody: flushes of a device's cache */
  __u32 device; /* major << 20 | minor */
};

struct block_operation_totals {
  __u64 requests;
  __u64 bytes;
  __u64 device_ns;
  __u64 queue_ns; /* from the making of the request to its issue */
};

struct block_row {
  struct block_operation_totals operations[BLOCK_OPERATIONS];
};
