// SPDX-License-Identifier: Apache-2.0
// Inputs of plan() from the pods and the node of a snapshot.
#pragma once

#include "koordetector/plugin.hpp"
#include "plugins/qos-cgroup-reconcile/memory_qos.hpp"

namespace koord::cgroup_reconcile {

// Pods that are pending or running; of best-effort pods the batch-memory counts in place of the memory.
Inputs inputs_of(const plugin::Snapshot& snapshot, std::int64_t page_size);

}  // namespace koord::cgroup_reconcile
