// SPDX-License-Identifier: Apache-2.0
// Paths as texts, of files and of cgroups. Nothing is looked up. [any thread]
#pragma once

#include <string_view>

namespace koord {

// Returns whether the path is `top` or below it: "a/b" is below "a", and "ab" is not. `top` has no slash at its end.
constexpr bool is_at_or_below(std::string_view path, std::string_view top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

}  // namespace koord
