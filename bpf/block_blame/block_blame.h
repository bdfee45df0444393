/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that charge cgroups for the requests that a block device had to serve
 * while others waited for it.
 *
 * Cgroups are named by their slots (latency_slots.h), devices by major << 20 | minor. A request is *in flight* from its
 * insertion into a queue of the device, or its issue, to its completion. Its latency is that time and the wait for a
 * free request before. At its completion the latency is charged to the cgroups that had requests in flight on the
 * device when it came, in parts by their numbers of requests. */
#pragma once

#include "bpf/include/latency_slots.h"

#ifndef __BPF__
#include <linux/types.h>
#endif

#define BLOCK_BLAME_DIRECTIONS 2 /* 0 reads, 1 writes; other requests are in flight, too, but are charged to none */

/* A culprit other than one cgroup: all further cgroups, when more than BLOCK_BLAME_CGROUPS have requests in flight
 * on one device. No cgroup has this slot. */
#define BLOCK_BLAME_FURTHER 0xfff1
#define BLOCK_BLAME_CGROUPS 8

/* The unit of parts of requests. */
#define BLOCK_BLAME_REQUEST (1 << 20)

/* Requests in flight on a device. */
struct block_blame_device {
  __u64 entries[BLOCK_BLAME_CGROUPS + 1]; /* slot << 32 | number; the last one: of further cgroups */
};

struct block_blame_row_key {
  __u32 device;
  __u32 slot;
};

/* Completed requests of a cgroup on a device in one direction. */
struct block_blame_stream {
  __u64 requests, bytes, ns;
  __u64 alone_requests, alone_ns; /* of those that met no requests of others at the device */
  __u64 own_requests, own_ns;     /* parts that are charged to the cgroup itself */
  __u64 buckets[LATENCY_BUCKETS]; /* of latencies */
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
