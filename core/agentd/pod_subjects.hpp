// SPDX-License-Identifier: Apache-2.0
// Pods as the governor needs them: the owner of each cgroup, its hands-off knobs, and the containers that have CPUs of
// their own. Pure. [any thread]
#pragma once

#include "core/knob/subjects.hpp"
#include "core/state/snapshot.hpp"

namespace koord::agentd {

// Returns pods and containers with a known cgroup; a container has its pod's annotation.
knob::Subjects subjects_of(const state::Snapshot& snapshot);

}  // namespace koord::agentd
