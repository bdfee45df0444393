/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the part of a thread's wait in which a CPU quota of its cgroup or of an ancestor stopped it. The kernel adds
 * that time to a counter of each run queue of a cgroup when the time ends. All times are from the run queue's clock. */
#pragma once

#include "kernel_fixes.bpf.h"
#include "latency_slots.h"

/* Finds the last throttled interval of a cgroup on a CPU. `throttled`: the kernel's count now. */
static __always_inline void find_throttled(const struct latency_throttled* last, __u64 throttled, __u64 now,
                                           __u64* begin, __u64* end) {
  *begin = last->begin_ns;
  *end = last->end_ns;
  if (!last->seen || throttled < last->seen) return;
  __u64 length = throttled - (last->seen - 1);
  *end = last->left_ns + length < now ? last->left_ns + length : now;
  *begin = *end > length ? *end - length : 0;
}

/* Returns the throttled part of a wait on this CPU that ends now. Only for a thread that has not waited since it left
 * this CPU, because it was woken later or moved. The last throttled interval may overlap the wait. */
static __always_inline __u64 throttled_part(struct latency_throttled* last, __u64 throttled, __u64 begin, __u64 now) {
  find_throttled(last, throttled, now, &last->begin_ns, &last->end_ns);
  last->seen = throttled + 1;
  if (begin >= last->end_ns) return 0;
  return last->end_ns - (begin > last->begin_ns ? begin : last->begin_ns);
}
