// SPDX-License-Identifier: Apache-2.0
// The resctrl group of a pod that requests its own part of caches and memory bandwidth. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace koord::hook_resctrl {

struct PodFacts {
  std::string_view uid;
  bool requests_part = false;  // a valid annotation
};

// The group that qos-resctrl makes for the pod, if the pod requests one and `exists` finds it. A runtime refuses a
// container with a group that does not exist.
std::optional<std::string> adjust(const PodFacts& pod, const std::function<bool(const std::string&)>& exists);

}  // namespace koord::hook_resctrl
