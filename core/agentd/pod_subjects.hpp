// SPDX-License-Identifier: Apache-2.0
// Converts pods for the governor: the pod or container of each cgroup, its hands-off knobs, and whether it has
// exclusive CPUs. Pure. [any thread]
#pragma once

#include "core/knob/subjects.hpp"
#include "core/state/snapshot.hpp"

namespace koord::agentd {

// Returns all pods and containers with a known cgroup. The hands-off annotation of a pod holds for its containers, too.
knob::Subjects subjects_of(const state::Snapshot& snapshot);

}  // namespace koord::agentd
