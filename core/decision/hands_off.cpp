// SPDX-License-Identifier: Apache-2.0
#include "core/decision/hands_off.hpp"

#include <algorithm>
#include <optional>

#include "core/base/parse.hpp"

namespace koord::decision {
namespace {

// The limit of names in one list. A pod has fewer knobs, and a node fewer plugins. A longer list counts as "true": all
// knobs.
constexpr std::size_t kMostNames = 32;

}  // namespace

HandsOff parse_hands_off(std::string_view annotation) {
  annotation = trim(annotation);
  if (annotation == "true") return {.all = true};
  if (annotation == "false") return {};
  HandsOff hands_off;
  while (auto field = next_field(annotation, ',')) {
    const std::string_view name = trim(*field);
    if (name.empty() || std::find(hands_off.names.begin(), hands_off.names.end(), name) != hands_off.names.end())
      continue;
    if (hands_off.names.size() == kMostNames) return {.all = true};
    hands_off.names.emplace_back(name);
  }
  return hands_off;
}

}  // namespace koord::decision
