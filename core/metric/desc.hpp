// SPDX-License-Identifier: Apache-2.0
// The definition of a metric: given once by its owner, valid as long as the owner exists.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::metric {

enum class Type { gauge, counter, histogram };

std::string_view to_string(Type type);

struct Desc {
  std::string name;  // without the prefix "koordetector_"
  std::string unit;
  std::string help;
  Type type = Type::gauge;
  bool exported = true;        // shown to Prometheus; the metric cache keeps it either way
  double resolution = 1;       // the smallest step worth keeping
  std::vector<double> bounds;  // of a histogram: the upper bounds, rising; +Inf is implied

  bool operator==(const Desc&) const = default;
};

// Names that begin so belong to the host's own metrics (host_metrics.hpp).
inline constexpr std::string_view kReservedPrefixes[] = {"host_",    "http_",   "kube_", "plugin_",
                                                         "predict_", "report_", "store_"};
bool is_reserved(std::string_view name);

inline constexpr std::size_t kMaxBounds = 256;
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxUnitBytes = 64;
inline constexpr std::size_t kMaxHelpBytes = 4096;

// Whether a plugin may define this; the error says what is wrong. [any thread]
Result<void> check(const Desc& desc);

}  // namespace koord::metric
