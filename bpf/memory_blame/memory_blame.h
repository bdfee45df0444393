/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that count the pages that threads of a cgroup had to free, because they
 * needed memory and a limit or the node had none left. Cgroups are identified by their slots (latency_slots.h). */
#pragma once

#ifndef __BPF__
#include <linux/types.h>
#endif

/* Pages since the cgroup got its slot. */
struct memory_blame_slot {
  __u64 at_limit; /* because of the limit of the cgroup or of an ancestor */
  __u64 on_node;  /* because the node had no free memory */
};
