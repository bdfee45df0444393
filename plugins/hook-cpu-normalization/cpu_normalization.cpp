// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-cpu-normalization/cpu_normalization.hpp"

#include <cmath>
#include <string>

#include "core/base/parse.hpp"

namespace koord::normalization {
namespace {

// A ratio outside of this range is a mistake.
constexpr double kLeastRatio = 0.1, kMostRatio = 10;
// A smaller difference of the CPUs does not change the quota.
constexpr double kTolerance = 0.01;

}  // namespace

Result<std::optional<double>> parse_ratio(std::string_view annotation) {
  if (annotation.empty()) return std::optional<double>();
  const Result<double> ratio = parse_double(annotation);
  if (ratio && *ratio == -1) return std::optional<double>();
  if (ratio && *ratio >= kLeastRatio && *ratio <= kMostRatio) return std::optional(*ratio);
  return invalid(std::string(kAnnotation) + " is '" + std::string(annotation.substr(0, 100)) +
                 "', expected a number from 0.1 to 10, or -1 for none");
}

std::optional<double> factor_of(std::optional<double> ratio) {
  if (!ratio || *ratio < 1 + kTolerance) return std::nullopt;
  return 1 / *ratio;
}

}  // namespace koord::normalization
