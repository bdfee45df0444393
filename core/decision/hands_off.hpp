// SPDX-License-Identifier: Apache-2.0
// HandsOff: the knobs and plugins that the owner of a pod excludes by an annotation. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace koord::decision {

// An annotation of a pod: "true", or what is not to be turned: knobs and plugins, separated by commas. "false" and what
// is not there mean nothing.
inline constexpr std::string_view kHandsOffAnnotation = "koordetector.sh/hands-off";

struct HandsOff {
  bool all = false;
  std::vector<std::string> names = {};  // of knobs and plugins

  bool operator==(const HandsOff&) const = default;
};
HandsOff parse_hands_off(std::string_view annotation);

}  // namespace koord::decision
