// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-resctrl/resctrl_group.hpp"

#include <climits>

namespace koord::hook_resctrl {
namespace {

// Prefix of the names that qos-resctrl uses.
constexpr std::string_view kPrefix = "koord-pod-";

bool is_name(std::string_view uid) {
  return !uid.empty() && kPrefix.size() + uid.size() <= NAME_MAX &&
         uid.find_first_of(std::string_view("/\n\0", 3)) == std::string_view::npos;
}

}  // namespace

std::optional<std::string> adjust(const PodFacts& pod, const std::function<bool(const std::string&)>& exists) {
  if (!pod.requests_part || !is_name(pod.uid)) return std::nullopt;
  std::string group = std::string(kPrefix) + std::string(pod.uid);
  return exists(group) ? std::optional(std::move(group)) : std::nullopt;
}

}  // namespace koord::hook_resctrl
