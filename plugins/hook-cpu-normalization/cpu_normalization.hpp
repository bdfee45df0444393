// SPDX-License-Identifier: Apache-2.0
// The factor of CPU limits on a node with CPUs faster than the reference of the cluster's limits. Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::normalization {

inline constexpr std::string_view kAnnotation = "node.koordinator.sh/cpu-normalization-ratio";

// The ratio of the annotation: work done in a second by a CPU of this node, by one of the reference. nullopt: none is
// given, or it is switched off with -1. An error names the value and what was expected.
Result<std::optional<double>> parse_ratio(std::string_view annotation);

// Returns the factor of a CPU limit. Only faster CPUs change a limit: a slower node gives no container more than its
// spec says.
std::optional<double> factor_of(std::optional<double> ratio);

}  // namespace koord::normalization
