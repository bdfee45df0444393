// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/rule_layers.hpp"

#include <doctest/doctest.h>

#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;

namespace {

std::string sealed(const std::string& fields) { return sealed_record(kRuleLayersVersion, fields); }

}  // namespace

TEST_CASE("a later layer overrides single settings of those before it, and each has its origin") {
  const EffectiveRules effective = effective_rules({{"configuration", {{"overQuiet", 3}, {"blkio.excessMs", 2}}},
                                                    {"strict", {{"overQuiet", 4}, {"clearAfter", 90}}, 5}});
  CHECK(effective.rules.cpu.over_quiet == 4);
  CHECK(effective.rules.io.excess == doctest::Approx(0.002));
  CHECK(effective.rules.confirmation.clear == std::chrono::seconds(90));
  CHECK(effective.rules.cpu.held_up == Rules().cpu.held_up);
  CHECK(effective.problems.empty());
  CHECK(effective.origin ==
        "overQuiet 4 (strict), clearAfter 1m30s (strict), blkio.excessMs 2 (configuration), all others built in");
  CHECK(effective_rules({}).origin == "built in");
  CHECK(effective_rules({{"configuration", {}}}).origin == "built in");
}

TEST_CASE("a layer with an invalid value is ignored as a whole") {
  const EffectiveRules effective = effective_rules({{"b", {{"overQuiet", 3}, {"sorcery", 1}}},
                                                    {"c", {{"overQuiet", 5}, {"heldUpMsPerSecond", 1e300}}},
                                                    {"d", {{"memory.overQuiet", 7}}}});
  CHECK(effective.rules.cpu.over_quiet == Rules().cpu.over_quiet);
  CHECK(effective.rules.memory.over_quiet == 7);
  REQUIRE(effective.problems.size() == 2);
  CHECK(effective.problems[0] == "b: sorcery is unknown, expected a setting of the rule");
  CHECK(effective.problems[1].starts_with("c: heldUpMsPerSecond is 1"));
  CHECK(effective.origin == "memory.overQuiet 7 (d), all others built in");
}

TEST_CASE("windows of one layer and those with a finding of another are judged together") {
  const EffectiveRules good =
      effective_rules({{"a", {{"windows", 2}, {"overQuiet", 3}}}, {"b", {{"windowsWithFinding", 2}}}});
  CHECK(good.problems.empty());
  CHECK(good.rules.confirmation.windows == 2);
  CHECK(good.rules.confirmation.of_them == 2);
  CHECK(good.rules.cpu.over_quiet == 3);
  const EffectiveRules bad = effective_rules({{"a", {{"windows", 2}, {"overQuiet", 3}}}});
  REQUIRE(bad.problems.size() == 1);
  CHECK(bad.problems[0] ==
        "all rules together: windowsWithFinding is 3, expected at most windows, 2; both are as built in");
  CHECK(bad.rules.confirmation.windows == Rules().confirmation.windows);
  CHECK(bad.rules.confirmation.of_them == Rules().confirmation.of_them);
  CHECK(bad.rules.cpu.over_quiet == 3);
  CHECK(bad.origin == "overQuiet 3 (a), all others built in");
}

TEST_CASE("layers read back as they were written") {
  const std::vector<RuleLayer> layers = {{"online", {{"heldUpMsPerSecond", 0.1}, {"clearAfter", 30}}, 1000},
                                         {"a.b-c", {}, 0},
                                         {"some",
                                          {{"overQuiet", 2}},
                                          1,
                                          WorkloadScope{{"shop", "batch"},
                                                        {{"tier", LabelOperator::in, {"", "web"}},
                                                         {"example.org/canary", LabelOperator::does_not_exist, {}}},
                                                        {{"Deployment", "cart"}}}},
                                         {"of-any", {}, 0, WorkloadScope()}};
  const ReadRuleLayers read = read_rule_layers(write_rule_layers(layers));
  CHECK(read.problems.empty());
  CHECK(read.layers == layers);
}

TEST_CASE("a record that is damaged, too long or of another kind is left out by itself") {
  const std::string good = write_rule_layers({{"good", {{"overQuiet", 3}}, 0}});
  std::string damaged = good;
  damaged[damaged.size() - 2] = '4';
  const ReadRuleLayers read =
      read_rule_layers(damaged + sealed("rule many 0 9999") + sealed("cpu x 0 0") + sealed("rule high 1001 0") +
                       sealed("rule rest 0 0 more") + sealed("rule key 0 0 workloads 0 1 =app 9 0 0") +
                       sealed("rule bare 0 0 workloads 1 shop 0 0") + sealed("rule rest 0 0 workloads 0 0 0 more") +
                       sealed("rule many 0 0 workloads 9999") + good);
  CHECK(read.problems.size() == 9);
  REQUIRE(read.layers.size() == 1);
  CHECK(read.layers[0].source == "good");
}
