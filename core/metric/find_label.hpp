// SPDX-License-Identifier: Apache-2.0
// The value of a label by its name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace koord::metric {

// Returns nullptr if no label has this name. Labels of series, of events and of rows of the metric cache have this
// type.
inline const std::string* find_label(const std::vector<std::pair<std::string, std::string>>& labels,
                                     std::string_view name) {
  for (const auto& [key, value] : labels)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace koord::metric
