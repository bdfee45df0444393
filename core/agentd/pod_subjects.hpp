// SPDX-License-Identifier: Apache-2.0
// Pods as the governor needs them: whose each cgroup is, which knobs of it are not to be turned, and which containers have CPUs
// of their own. Pure. [any thread]
#pragma once

#include "core/knob/subjects.hpp"
#include "core/state/snapshot.hpp"

namespace koord::agentd {

// Pods and containers whose cgroup is known; a container has its pod's annotation.
knob::Subjects subjects_of(const state::Snapshot& snapshot);

}  // namespace koord::agentd
