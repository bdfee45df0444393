/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that count the pages that threads of a cgroup had to free, because they
 * needed memory and a limit, or the node, had none left. Cgroups are named by their slots (latency_slots.h). */
#pragma once

#ifndef __BPF__
#include <linux/types.h>
#endif

/* Since the cgroup has its slot. */
struct memory_blame_slot {
  __u64 at_limit; /* pages, at its limit or that of a cgroup above it */
  __u64 on_node;  /* pages, because the node had nothing free */
};
