// SPDX-License-Identifier: Apache-2.0
// Annotations that this agent adds to what it reports.
#pragma once

#include <string_view>

namespace koord::report {

// On a NodeMetric: what is left out of its status or not as asked for, and why: sentences, joined by "; ". Without it nothing is.
inline constexpr std::string_view kDegradedAnnotation = "koordetector.sh/degraded";

}  // namespace koord::report
