// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/workload_scope.hpp"

#include <doctest/doctest.h>

#include "core/analysis/workload_rules.hpp"

using namespace koord::analysis;

namespace {

const WorkloadFacts kCart = {
    "shop", {{"app", "cart"}, {"tier", ""}, {"pod-template-hash", "7d9f"}}, {"ReplicaSet", "cart-7d9f"}};
const WorkloadFacts kEtl = {"batch", {{"app", "etl"}}, {"Job", "etl-28374"}};
const WorkloadFacts kBare = {"shop", {}, {}};

LabelRequirement app(LabelOperator op, std::vector<std::string> values = {}) { return {"app", op, std::move(values)}; }

RuleLayer layer(const std::string& name, double over_quiet, std::optional<WorkloadScope> scope = std::nullopt) {
  return {name, {{"overQuiet", over_quiet}}, 0, std::move(scope)};
}

const WorkloadScope kShop = {.namespaces = {"shop"}, .labels = {}, .owners = {}};
const WorkloadScope kCarts = {.namespaces = {}, .labels = {app(LabelOperator::in, {"cart"})}, .owners = {}};

}  // namespace

TEST_CASE("a scope has the pods of its namespaces, labels and owners") {
  struct Row {
    const char* name;
    WorkloadScope scope;
    bool cart, etl, bare;
  };
  const Row rows[] = {
      {"empty", {}, true, true, true},
      {"a namespace", kShop, true, false, true},
      {"one of two namespaces", {{"shop", "batch"}, {}, {}}, true, true, true},
      {"another namespace", {{"sho"}, {}, {}}, false, false, false},
      {"a label", kCarts, true, false, false},
      {"one of two values", {{}, {app(LabelOperator::in, {"x", "etl"})}, {}}, false, true, false},
      {"an empty value", {{}, {{"tier", LabelOperator::in, {""}}}, {}}, true, false, false},
      {"not a value, or no label", {{}, {app(LabelOperator::not_in, {"cart"})}, {}}, false, true, true},
      {"a label exists", {{}, {app(LabelOperator::exists)}, {}}, true, true, false},
      {"no label exists", {{}, {app(LabelOperator::does_not_exist)}, {}}, false, false, true},
      {"each requirement",
       {{}, {app(LabelOperator::exists), {"tier", LabelOperator::exists, {}}}, {}},
       true,
       false,
       false},
      {"a Deployment", {{}, {}, {{"Deployment", "cart"}}}, true, false, false},
      {"its ReplicaSet", {{}, {}, {{"ReplicaSet", "cart-7d9f"}}}, true, false, false},
      {"another kind", {{}, {}, {{"StatefulSet", "cart"}}}, false, false, false},
      {"one of two owners", {{}, {}, {{"Job", "etl-28374"}, {"Deployment", "cart"}}}, true, true, false},
      {"namespace and label", {{"shop"}, {app(LabelOperator::in, {"etl"})}, {}}, false, false, false},
      {"namespace and owner", {{"batch"}, {}, {{"Deployment", "cart"}}}, false, false, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(row.scope.contains(kCart) == row.cart);
    CHECK(row.scope.contains(kEtl) == row.etl);
    CHECK(row.scope.contains(kBare) == row.bare);
  }
}

TEST_CASE("the owner of a pod is a Deployment if the name of its ReplicaSet ends with the hash of the pod's template") {
  CHECK(owner_in_cluster({"ReplicaSet", "cart-7d9f"}, "7d9f") == WorkloadOwner{"Deployment", "cart"});
  for (const WorkloadOwner& owner : {WorkloadOwner{"ReplicaSet", "cart-7d9e"},
                                     {"ReplicaSet", "-7d9f"},
                                     {"StatefulSet", "cart-7d9f"},
                                     {"ReplicaSet", "cart7d9f"},
                                     {}})
    CHECK(owner_in_cluster(owner, "7d9f") == owner);
  CHECK(owner_in_cluster({"ReplicaSet", "cart-"}, "") == WorkloadOwner{"ReplicaSet", "cart-"});
}

TEST_CASE("a workload has the rules of the layers with it in their scope, in their order") {
  WorkloadRules rules({layer("configuration", 2), layer("shop", 3, kShop), layer("all", 4), layer("carts", 5, kCarts)});
  CHECK(rules.of_node().cpu.over_quiet == 4);
  REQUIRE(rules.of(kCart));
  CHECK(rules.of(kCart)->cpu.over_quiet == 5);
  REQUIRE(rules.of(kBare));
  CHECK(rules.of(kBare)->cpu.over_quiet == 4);
  CHECK_FALSE(rules.of(kEtl));
  CHECK(rules.of(kCart) == rules.of(kCart));
  CHECK(rules.origin() ==
        "overQuiet 4 (all), all others built in; of some workloads: overQuiet 3 (shop), overQuiet 5 (carts)");
  CHECK(rules.problems().empty());
}

TEST_CASE("a layer for some workloads that cannot be taken is named, and changes nothing") {
  WorkloadRules rules({layer("shop", 0.5, kShop), {"few", {{"windows", 2}}, 0, kCarts}});
  REQUIRE(rules.problems().size() == 2);
  CHECK(rules.problems()[0] == "shop: overQuiet is 0.5, expected 1 to 100");
  CHECK(rules.problems()[1].find("windowsWithFinding is 3, expected at most windows, 2") != std::string::npos);
  REQUIRE(rules.of(kCart));
  CHECK(rules.of(kCart)->cpu.over_quiet == Rules().cpu.over_quiet);
  CHECK(rules.of(kCart)->confirmation == Rules().confirmation);
}

TEST_CASE("the least time for reading pages again is that of any workload") {
  CHECK(WorkloadRules().least_refault_time() == doctest::Approx(0.010));
  const WorkloadRules rules({{"low", {{"memory.refaultMsPerSecond", 2}}, 0, kShop},
                             {"high", {{"memory.refaultMsPerSecond", 50}}, 0, kCarts}});
  CHECK(rules.least_refault_time() == doctest::Approx(0.002));
  CHECK(rules.of_node().memory.refault_time == doctest::Approx(0.010));
}
