// SPDX-License-Identifier: Apache-2.0
// The names of the only kind that this API serves.
#pragma once

#include <string_view>

namespace koord::aggregated {

inline constexpr std::string_view kGroup = "metrics.koordetector.sh";
inline constexpr std::string_view kGroupVersion = "v1alpha1";
inline constexpr std::string_view kApiVersion = "metrics.koordetector.sh/v1alpha1";
inline constexpr std::string_view kKind = "NodeMetric";
inline constexpr std::string_view kListKind = "NodeMetricList";
inline constexpr std::string_view kResource = "nodemetrics";
inline constexpr std::string_view kSingular = "nodemetric";
inline constexpr std::string_view kGroupPath = "/apis/metrics.koordetector.sh";
inline constexpr std::string_view kVersionPath = "/apis/metrics.koordetector.sh/v1alpha1";

}  // namespace koord::aggregated
