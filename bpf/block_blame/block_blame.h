/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that charge cgroups for the requests that a block device served while
 * other cgroups waited for it.
 *
 * Cgroups are identified by their slots (latency_slots.h), devices by major << 20 | minor. A request is *in flight*
 * from its insertion into a queue of the device, or its issue, to its completion. Its latency is this time plus the
 * preceding wait for a free request. At its completion the latency is charged to the cgroups that had requests in
 * flight on the device when it arrived, in proportion to their numbers of requests. */
#pragma once

#include "bpf/include/latency_slots.h"

#ifndef __BPF__
#include <linux/types.h>
#endif

#define BLOCK_BLAME_DIRECTIONS 2 /* 0 reads, 1 writes; other requests are in flight but charged to no cgroup */

/* A culprit that stands for all further cgroups, if more than BLOCK_BLAME_CGROUPS have requests in flight on a device.
 * No cgroup has this slot. */
#define BLOCK_BLAME_FURTHER 0xfff1
#define BLOCK_BLAME_CGROUPS 8

/* The unit for parts of requests. */
#define BLOCK_BLAME_REQUEST (1 << 20)

/* Requests in flight on a device. */
struct block_blame_device {
  __u64 entries[BLOCK_BLAME_CGROUPS + 1]; /* slot << 32 | number; the last entry: further cgroups */
};

struct block_blame_row_key {
  __u32 device;
  __u32 slot;
};

/* Completed requests of a cgroup on a device in one direction. */
struct block_blame_stream {
  __u64 requests, bytes, ns;
  __u64 alone_requests, alone_ns; /* requests that met no requests of other cgroups at the device */
  __u64 own_requests, own_ns;     /* parts that are charged to the cgroup itself */
  __u64 buckets[LATENCY_BUCKETS]; /* histogram of latencies */
};

struct block_blame_row {
  struct block_blame_stream streams[BLOCK_BLAME_DIRECTIONS];
};

struct block_blame_pair_key {
  __u32 device;
  __u16 victim, culprit;
};

struct block_blame_pair {
  __u64 requests[BLOCK_BLAME_DIRECTIONS], ns[BLOCK_BLAME_DIRECTIONS]; /* parts */
};
