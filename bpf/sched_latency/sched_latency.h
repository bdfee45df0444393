/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by user space and the programs that measure how long threads wait for a CPU. */
#pragma once

#include "bpf/include/latency_slots.h"

/* The throttled time of a cgroup's threads on one CPU, since the cgroup got its slot. It is in no histogram. */
struct sched_throttled {
  __u64 throttled_ns;
  struct latency_throttled last; /* used only by the programs */
};
