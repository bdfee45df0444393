// SPDX-License-Identifier: Apache-2.0
// Computes the OOM score adjustment of a container from its pod's annotations. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace koord::oom_score {

inline constexpr std::string_view kAnnotation = "koordinator.sh/oom-score-adj";  // value for all containers
inline constexpr std::string_view kSpecAnnotation =
    "koordinator.sh/oom-score-adj-spec";  // values for single containers; takes precedence

struct Annotations {
  std::optional<std::string_view> all, spec;  // nullopt: missing
};

struct Adjustment {
  std::optional<std::int64_t> score;  // nullopt: the container keeps its own score
  std::string problem = {};           // why an annotation is ignored; empty: none is ignored

  bool operator==(const Adjustment&) const = default;
};

// An invalid score is ignored, and the other annotation is not used instead.
Adjustment adjust(std::string_view container, const Annotations& annotations);

}  // namespace koord::oom_score
