// SPDX-License-Identifier: Apache-2.0
// HookReach: whether a hook may give a container devices and mounts of the node. Either amounts to root on the node, so
// a third party's hook needs a grant (plugins.settings.ID.hookFields).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace koord::host {

struct HookReach {
  bool devices = true, mounts = true;
};

// `granted`: "device", "mount".
inline HookReach hook_reach(bool is_third_party, const std::vector<std::string>& granted) {
  const auto has = [&](const char* field) { return std::find(granted.begin(), granted.end(), field) != granted.end(); };
  return {!is_third_party || has("device"), !is_third_party || has("mount")};
}

}  // namespace koord::host
