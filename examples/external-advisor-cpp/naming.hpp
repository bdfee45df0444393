// SPDX-License-Identifier: Apache-2.0
// Selects metrics of an endpoint and maps their names. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Naming {
  std::string prefix;                // prepended to each name
  std::vector<std::string> allowed;  // names, or prefixes of names followed by '*'; empty: all

  // Returns the name on this node; nullopt if the metric is left out.
  std::optional<std::string> name_of(std::string_view metric) const {
    auto allows = [metric](const std::string& pattern) {
      if (pattern.empty() || pattern.back() != '*') return metric == pattern;
      const std::size_t length = pattern.size() - 1;
      return metric.substr(0, length) == std::string_view(pattern).substr(0, length);
    };
    if (!allowed.empty() && std::none_of(allowed.begin(), allowed.end(), allows)) return std::nullopt;
    return prefix + std::string(metric);
  }
};
