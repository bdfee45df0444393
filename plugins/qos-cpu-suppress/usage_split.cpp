// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-suppress/usage_split.hpp"

#include <algorithm>

namespace koord::usage {

Split split(const Parts& parts) {
  Split result;
  for (const Use& pod : parts.pods) (pod.best_effort ? result.best_effort : result.pods) += pod.amount;
  for (const Use& application : parts.applications)
    (application.best_effort ? result.best_effort : result.applications) += application.amount;
  const double rest = parts.node - result.best_effort - result.pods - result.applications;
  result.system = std::max({rest, parts.reserved, 0.0});
  return result;
}

double reserved(std::optional<double> capacity, std::optional<double> allocatable, std::optional<double> reservation) {
  const double held_back = capacity && allocatable ? *capacity - *allocatable : 0;
  return std::max({held_back, reservation.value_or(0), 0.0});
}

}  // namespace koord::usage
