// SPDX-License-Identifier: Apache-2.0
// Definitions: the metrics, and the owners that have defined each. Part of the registry, under its lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/metric/series.hpp"

namespace koord::metric {

class Definitions {
 public:
  // Made when first named; it stays, with its budget, when its metrics are forgotten.
  Owner& owner(std::string_view name);
  Owner* find_owner(std::string_view name) const;

  Result<std::uint32_t> define(Owner& owner, const Desc& desc);
  Metric* find(std::uint32_t id) const;
  // A metric of the owner that keeps this description from being defined.
  Metric* in_the_way(const Owner& owner, const Desc& desc) const;
  // A metric of another owner that does.
  Metric* taken_by_other(const Owner& owner, const Desc& desc) const;
  // Removes a metric after its series have ended.
  void forget(const Metric& metric);
  // Removes the metrics of the owner; their series have ended before.
  void forget(const Owner& owner);

  // By name.
  const std::map<std::string, std::unique_ptr<Metric>, std::less<>>& metrics() const { return metrics_; }

 private:
  Result<void> check_free(const Desc& desc) const;

  std::unordered_map<std::string_view, std::unique_ptr<Owner>> owners_;  // keys are the owners' own names
  std::map<std::string, std::unique_ptr<Metric>, std::less<>> metrics_;
  std::unordered_map<std::uint32_t, Metric*> by_id_;
  std::unordered_map<std::string, const Metric*> line_names_;  // every name that begins a line, and its metric
  std::uint32_t next_id_ = 1;
};

}  // namespace koord::metric
