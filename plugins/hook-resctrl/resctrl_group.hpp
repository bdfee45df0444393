// SPDX-License-Identifier: Apache-2.0
// Selects the resctrl group of a pod that requests its own part of caches and memory bandwidth. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace koord::hook_resctrl {

struct PodFacts {
  std::string_view uid;
  bool requests_part = false;  // the annotation is valid and requests a part
};

// Returns the group that qos-resctrl creates for the pod, if the pod requests one and `exists` confirms it. A runtime
// would refuse a container with a group that does not exist.
std::optional<std::string> adjust(const PodFacts& pod, const std::function<bool(const std::string&)>& exists);

}  // namespace koord::hook_resctrl
