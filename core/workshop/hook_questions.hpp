// SPDX-License-Identifier: Apache-2.0
// The questions that a runtime hook is asked on a node: about each pod and container, at each of its stages.
// [any thread]
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.hpp"
#include "core/service/snapshot_view.hpp"
#include "koordetector/plugin.h"

namespace koord::workshop {

// Borrowed of a SnapshotView.
struct HookQuestion {
  std::uint32_t stage;     // KOORD_STAGE_*
  const char* stage_name;  // "PreCreateContainer"
  const koord_pod* pod;
  const koord_container* container;  // nullptr: about the pod
};

// `stages`: those of the plugin's class.
std::vector<HookQuestion> hook_questions(std::uint32_t stages, const service::SnapshotView& view);
koord_hook_request request_of(const HookQuestion& question, const service::SnapshotView& view, Time deadline);

}  // namespace koord::workshop
