/* SPDX-License-Identifier: Apache-2.0 */
/* Types and maps shared by the memory latency programs and user space. A stall is the time for which a thread waits for
 * memory. It is charged to the cgroup of that thread, as one of these kinds. The cgroup's slot has one histogram for
 * each kind (see latency_slots.h). */
#pragma once

enum memory_stall_kind {
  MEMORY_STALL_MEMCG_RECLAIM = 0,  /* its cgroup, or an ancestor, has reached its limit */
  MEMORY_STALL_DIRECT_RECLAIM = 1, /* the node, or a NUMA node, has no free memory */
  MEMORY_STALL_COMPACTION = 2,     /* enough memory is free, but it is not contiguous */
  MEMORY_STALL_KINDS
};
