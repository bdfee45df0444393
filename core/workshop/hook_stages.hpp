// SPDX-License-Identifier: Apache-2.0
// The stages of a runtime hook as the ABI counts them, with Koordinator's names, and the questions that a hook is asked
// on a node. [any thread]
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.hpp"
#include "koordetector/plugin.h"

namespace koord::service {
class SnapshotView;
}

namespace koord::workshop {

struct HookStage {
  std::uint32_t bit;
  const char* name;
  bool of_container;  // else of a pod
};
const std::vector<HookStage>& hook_stages();

// About a pod or one of its containers, at one stage. Borrowed of a SnapshotView.
struct HookQuestion {
  const HookStage* stage;
  const koord_pod* pod;
  const koord_container* container;  // nullptr: about the pod
};
// One for each of the stages, pods and containers of the node. `stages` as in the class of a plugin.
std::vector<HookQuestion> hook_questions(std::uint32_t stages, const service::SnapshotView& view);
koord_hook_request request_of(const HookQuestion& question, const service::SnapshotView& view, Time deadline);

}  // namespace koord::workshop
