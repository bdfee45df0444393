// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/strategy/refusals.hpp"

namespace koord::strategy {
namespace {

// Returns why the intent is not in effect, or "" if there is nothing to report.
std::string why_not(const koord_intent_result& result) {
  switch (result.status) {
    case KOORD_OK:
    case KOORD_E_GONE:
    case KOORD_E_DENIED:
      return "";
    case KOORD_E_AGAIN:
      return "the intent of '" + std::string(plugin::view(result.winner)) + "' applies";
    case KOORD_E_UNSUPPORTED:
      return "this node has no such knob";
    case KOORD_E_IO:
      return "the kernel or another program has set another value";
    case KOORD_E_DEADLINE:
      return "the intent expired, because it was not proposed again in time";
    default:
      return "status " + std::to_string(result.status);
  }
}

}  // namespace

std::vector<std::string> Refusals::new_lines(plugin::Strided<koord_intent_result> results) {
  std::vector<std::string> lines;
  for (const koord_intent_result& result : results) {
    const std::string why = why_not(result);
    const std::string_view knob = plugin::view(result.knob), dir = plugin::view(result.cgroup_dir);
    if (why.empty() || reported_.update(std::string(knob) + ": " + why, why) == ProblemTracker::Change::none) continue;
    lines.push_back(std::string(knob) + (dir.empty() ? "" : " of '" + std::string(dir) + "'") +
                    " does not have the intended value: " + why +
                    (dir.empty() ? "" : " (logged once for all cgroups)"));
  }
  return lines;
}

void MissingKnobs::learn(plugin::Strided<koord_intent_result> results, std::uint64_t now_ns) {
  std::map<std::string_view, bool> there;
  for (const koord_intent_result& result : results)
    if (result.status != KOORD_E_GONE) there[plugin::view(result.knob)] |= result.status != KOORD_E_UNSUPPORTED;
  for (const auto& [knob, is_there] : there) {
    if (is_there)
      until_.erase(std::string(knob));
    else
      until_.insert_or_assign(std::string(knob), now_ns + static_cast<std::uint64_t>(kAskAgain.count()));
  }
}

bool MissingKnobs::missing(std::string_view knob, std::uint64_t now_ns) const {
  const auto known = until_.find(knob);
  return known != until_.end() && now_ns < known->second;
}

std::vector<std::string> MissingKnobs::names(std::uint64_t now_ns) const {
  std::vector<std::string> names;
  for (const auto& [knob, until] : until_)
    if (now_ns < until) names.push_back(knob);
  return names;
}

}  // namespace koord::strategy
