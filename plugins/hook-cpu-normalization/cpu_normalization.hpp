// SPDX-License-Identifier: Apache-2.0
// Computes the factor of CPU limits on a node with CPUs faster than the reference CPU of the cluster's limits. Pure
// functions.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::normalization {

inline constexpr std::string_view kAnnotation = "node.koordinator.sh/cpu-normalization-ratio";

// Parses the ratio in the annotation: the speed of this node's CPU divided by the speed of the reference CPU. nullopt:
// no ratio is set, or -1 switches it off. An error names the value and what was expected.
Result<std::optional<double>> parse_ratio(std::string_view annotation);

// Returns the factor of a CPU limit. Only faster CPUs change a limit, because on a slower node a container must not get
// more than its spec.
std::optional<double> factor_of(std::optional<double> ratio);

}  // namespace koord::normalization
