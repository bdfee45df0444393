// SPDX-License-Identifier: Apache-2.0
// The stages of a runtime hook as the ABI counts them, with Koordinator's names. [any thread]
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace koord::host {

struct HookStage {
  std::uint32_t bit;
  const char* name;
  bool of_container;  // else of a pod
};
const std::vector<HookStage>& hook_stages();

// "PreCreateContainer"; empty for a number that is not a stage.
std::string_view name_of_stage(std::uint32_t bit);

}  // namespace koord::host
