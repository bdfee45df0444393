// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "core/analysis/rules.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

std::string problem(const Rules& rules) {
  const auto checked = check(rules);
  return checked ? "" : checked.error().message();
}

}  // namespace

TEST_CASE("the defaults are within their bounds") { CHECK(problem({}).empty()); }

TEST_CASE("a value out of its bounds is named in the unit of its setting") {
  Rules rules;
  rules.cpu.held_up = 11;
  CHECK(problem(rules) == "heldUpMsPerSecond is 11000, expected 0.1 to 10000");
  rules = {};
  rules.cpu.lost_throughput = 0;
  CHECK(problem(rules) == "lostThroughputPercent is 0, expected 0.1 to 100");
  rules = {};
  rules.cpu.over_quiet = std::numeric_limits<double>::quiet_NaN();
  CHECK(problem(rules) == "overQuiet is nan, expected 1 to 100");
  rules = {};
  rules.confirmation.clear = 2h;
  CHECK(problem(rules) == "clearAfter is 2h, expected 1s to 1h");
  rules = {};
  rules.baseline.windows = 0;
  CHECK(problem(rules) == "quietWindows is 0, expected 1 to 86400");
}

TEST_CASE("a verdict cannot need more windows with a finding than there are windows") {
  Rules rules;
  rules.confirmation.windows = 2;
  CHECK(problem(rules) == "windowsWithFinding is 3, expected at most windows, 2");
}

TEST_CASE("each setting has another name and constant, a default within its bounds, and reads back what is put") {
  const Rules defaults;
  for (const RuleSetting& setting : rule_settings()) {
    CAPTURE(setting.name);
    CHECK(rule_setting_named(setting.name) == &setting);
    CHECK(setting.check(setting.value_in(defaults)));
    CHECK(setting.check(setting.least));
    CHECK(setting.check(setting.most));
    CHECK_FALSE(setting.check(setting.least - 1));
    CHECK_FALSE(setting.check(setting.most + 1));
    Rules changed;
    setting.put(changed, setting.most);
    CHECK(setting.value_in(changed) == doctest::Approx(setting.most));
    for (const RuleSetting& other : rule_settings())
      if (&other != &setting) CHECK(other.value_in(changed) == other.value_in(defaults));
  }
  CHECK(rule_setting_named("overquiet") == nullptr);
}

TEST_CASE("a value of the wrong kind is refused with what is expected") {
  const auto problem_of = [](const auto& value) { return value ? std::string() : value.error().message(); };
  const RuleSetting &clear = *rule_setting_named("clearAfter"), &windows = *rule_setting_named("windows");
  CHECK(rule_value(clear, "1m30s").value_or(0) == 90);
  CHECK(rule_value(windows, 5).value_or(0) == 5);
  CHECK(problem_of(rule_value(clear, 10)) == "clearAfter is a number, expected a time such as 10s");
  CHECK(problem_of(rule_value(clear, "soon")) == "clearAfter is 'soon', expected a time such as 10s");
  CHECK(problem_of(rule_value(clear, "2h")) == "clearAfter is 2h, expected 1s to 1h");
  CHECK(problem_of(rule_value(windows, "five")) == "windows is 'five', expected a number");
  CHECK(problem_of(rule_value(windows, 2.5)) == "windows is 2.5, expected a whole number from 1 to 60");
  CHECK(problem_of(rule_value(*rule_setting_named("blkio.excessMs"), -1)) ==
        "blkio.excessMs is -1, expected 0 to 10000");
}
