// SPDX-License-Identifier: Apache-2.0
// Builds the inputs of plan() from the pods and the node of a snapshot.
#pragma once

#include "koordetector/plugin.hpp"
#include "plugins/qos-cgroup-reconcile/memory_qos.hpp"

namespace koord::cgroup_reconcile {

// Returns the pods that are pending or running. For best-effort pods, batch-memory is used instead of memory.
Inputs inputs_of(const plugin::Snapshot& snapshot, std::int64_t page_size);

}  // namespace koord::cgroup_reconcile
