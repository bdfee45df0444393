/* SPDX-License-Identifier: Apache-2.0 */
/* Types and maps shared by the memory latency programs and user space. A stall is the time that a thread
 * spends waiting for memory. It is charged to the cgroup of that thread, as one of these kinds. Each kind has
 * a histogram in the cgroup's slot (see latency_slots.h). */
#pragma once

enum memory_stall_kind {
  MEMORY_STALL_MEMCG_RECLAIM = 0,  /* its cgroup, or one above, is at its limit */
  MEMORY_STALL_DIRECT_RECLAIM = 1, /* the node, or a NUMA node, has nothing free */
  MEMORY_STALL_COMPACTION = 2,     /* enough is free, but not in one piece */
  MEMORY_STALL_KINDS
};
