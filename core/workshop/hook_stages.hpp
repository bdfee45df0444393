// SPDX-License-Identifier: Apache-2.0
// The stages of a runtime hook as the ABI counts them, with Koordinator's names. [any thread]
#pragma once

#include <cstdint>
#include <vector>

namespace koord::workshop {

struct HookStage {
  std::uint32_t bit;
  const char* name;
  bool of_container;  // else of a pod
};
const std::vector<HookStage>& hook_stages();

}  // namespace koord::workshop
