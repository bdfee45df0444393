// SPDX-License-Identifier: Apache-2.0
// Rules: all constants of the verdicts, with their defaults. Each is a setting with a name, a unit and bounds. Plain
// values. [any thread]
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/analysis/baseline.hpp"
#include "core/analysis/cpu_rule.hpp"
#include "core/analysis/io_rule.hpp"
#include "core/analysis/memory_rule.hpp"
#include "core/analysis/verdict_tracker.hpp"
#include "core/base/result.hpp"

namespace koord::analysis {

struct Rules {
  CpuRule cpu;
  ConfirmationRule confirmation;  // for all resources
  BaselineRule baseline;          // for CPU and memory; block I/O has its own settings in IoRule
  IoRule io;
  MemoryRule memory;
};

// One constant of the rules.
struct RuleSetting {
  using Place = std::variant<double*, int*, std::size_t*, Duration*>;

  std::string_view name;  // "overQuiet", "blkio.excessMs"
  std::string_view unit;  // "ms/s", "times"; kTime: a text such as "10s"
  double least = 0, most = 0;
  double scale = 1;  // value in Rules per unit
  Place (*place)(Rules& rules) = nullptr;
  bool is_of_node = false;  // one value for all workloads

  static constexpr std::string_view kTime = "time";

  bool is_time() const { return unit == kTime; }
  bool is_whole() const;
  double value_in(const Rules& rules) const;  // in the setting's unit; a time in seconds
  // Sets the value without a check.
  void put(Rules& rules, double value) const;
  // Returns the value as text: "2.5", "10s".
  std::string text_of(double value) const;
  // Fails if the value is out of bounds: "overQuiet is 0.5, expected 1 to 100".
  Result<void> check(double value) const;
};

// Returns all settings in the order of the documentation.
std::span<const RuleSetting> rule_settings();
// Returns the setting, or null if no setting has this name.
const RuleSetting* rule_setting_named(std::string_view name);

// Return a setting's value in its unit, a time in seconds. Fail if it is out of bounds or has the wrong type. The error
// contains the name, the value and the expected values.
Result<double> rule_value(const RuleSetting& setting, double number);
Result<double> rule_value(const RuleSetting& setting, std::string_view text);

// Fails if a value is out of bounds, or two settings are inconsistent. The error contains the name, the value and the
// expected values.
Result<void> check(const Rules& rules);

}  // namespace koord::analysis
