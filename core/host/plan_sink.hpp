// SPDX-License-Identifier: Apache-2.0
// PlanSink: takes what strategies propose. One evaluate() gives one plan, which replaces the plugin's plan before.
// The observe-only sink keeps the last plan of each strategy for display and applies nothing.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace koord::host {

struct Plan;

// [any thread]
class PlanSink {
 public:
  virtual ~PlanSink() = default;
  virtual void take(std::string_view plugin_id, Plan plan) = 0;
  // The strategy has ended: what it wished for is wished no more.
  virtual void withdraw(std::string_view plugin_id) = 0;
};

}  // namespace koord::host
