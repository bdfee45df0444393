// SPDX-License-Identifier: Apache-2.0
// PlanSink: takes what strategies propose. One evaluate() gives one plan, which replaces the strategy's plan
// before. KeepPlans is the sink of a host that only observes: it keeps the last plan of each strategy for
// display and applies nothing. [any thread]
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/intent.hpp"

namespace koord::host {

using Plan = std::vector<Intent>;

class PlanSink {
 public:
  virtual ~PlanSink() = default;
  virtual void take(std::string_view plugin_id, Plan plan) = 0;
  // The strategy has ended: it wishes for nothing any more.
  virtual void withdraw(std::string_view plugin_id) = 0;
};

class KeepPlans final : public PlanSink {
 public:
  void take(std::string_view plugin_id, Plan plan) override;
  void withdraw(std::string_view plugin_id) override;

  // By plugin.
  std::map<std::string, Plan> plans() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Plan, std::less<>> plans_;
};

}  // namespace koord::host
