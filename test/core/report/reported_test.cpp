// SPDX-License-Identifier: Apache-2.0
#include "core/report/reported.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace koord;
using namespace koord::report;

namespace {

constexpr Amounts kCapacity{10000, 10000};

NodeMetricStatus status() {
  NodeMetricStatus status;
  status.update_seconds = 1'790'000'000;
  status.node.amounts = Amounts{5230, 12ll << 30};
  status.system.amounts = Amounts{310, 900ll << 20};
  status.node_windows = {{std::chrono::minutes(5), {}}, {std::chrono::minutes(10), {}}};
  for (Usage& usage : status.node_windows[0].usages) usage.amounts = Amounts{5000, 1 << 30};
  status.pods = {{"shop", "web-0", "koord-prod", "LS", {Amounts{800, 2ll << 30}}}};
  status.applications = {{"nginx", "koord-prod", "LS", {Amounts{100, 1 << 20}}}};
  status.prod_reclaimable = Amounts{2000, 3ll << 30};
  return status;
}

UsageSummary of_node(std::int64_t cpu, std::int64_t memory) {
  UsageSummary usage;
  usage.node = Amounts{cpu, memory};
  return usage;
}

}  // namespace

TEST_CASE("a written object is read back as it was") {
  const Result<Reported> reported = parse_reported(
      R"({"metadata":{"annotations":{"koordetector.sh/degraded":"no pods"}},"status":)" + to_json(status()) + "}");
  REQUIRE(reported);
  CHECK(reported->update_seconds == 1'790'000'000);
  CHECK(reported->usage == usage_of(status()));
  CHECK(reported->usage.windows == std::set<std::string>{"5m0s"});
  CHECK(reported->degraded == "no pods");
}

TEST_CASE("quantities in any form are the same figures") {
  CHECK(parse_reported(R"({"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":"1.5","memory":"1024Ki"}}}}})")
            ->usage.node == Amounts{1500, 1 << 20});
}

TEST_CASE("an object without a status was never reported") {
  const Result<Reported> reported = parse_reported(R"({"metadata":{"name":"n"},"spec":{}})");
  REQUIRE(reported);
  CHECK_FALSE(reported->update_seconds);
  CHECK(reported->usage == UsageSummary());
}

TEST_CASE("members of other types count as missing") {
  const Result<Reported> reported = parse_reported(
      R"({"status":{"updateTime":5,"nodeMetric":[],"podsMetric":{"a":1},"hostApplicationMetric":[null,3],"prodReclaimableMetric":"x"}})");
  REQUIRE(reported);
  CHECK_FALSE(reported->update_seconds);
}

TEST_CASE("text that is not an object is refused by name") {
  CHECK(parse_reported("[]").error().text == "NodeMetric: expected a mapping, found a list");
  CHECK(parse_reported("{").error().text.starts_with("NodeMetric: not JSON"));
}

TEST_CASE("a change is the greatest of all figures, in percent of what the node has") {
  CHECK(change(of_node(5000, 5000), of_node(5000, 5000), kCapacity) == 0);
  CHECK(change(of_node(5000, 5000), of_node(5600, 5300), kCapacity) == doctest::Approx(6));
  CHECK(change(of_node(5000, 5000), of_node(5000, 4000), kCapacity) == doctest::Approx(10));
}

TEST_CASE("an idle node's noise is a small change, however much it is of what was") {
  CHECK(change(of_node(20, 5000), of_node(60, 5000), kCapacity) == doctest::Approx(0.4));
}

TEST_CASE("where capacity is not known the greater figure is the whole") {
  CHECK(change(of_node(50, 100), of_node(100, 100), {}) == doctest::Approx(50));
}

TEST_CASE("new and removed parts have no measure") {
  const UsageSummary before = usage_of(status());
  const auto beyond = [&before](auto&& edit) {
    NodeMetricStatus other = status();
    edit(other);
    return std::isinf(change(before, usage_of(other), kCapacity));
  };
  CHECK_FALSE(beyond([](NodeMetricStatus&) {}));
  CHECK(beyond([](NodeMetricStatus& s) { s.pods[0].name = "web-1"; }));
  CHECK(beyond([](NodeMetricStatus& s) { s.pods.clear(); }));
  CHECK(beyond([](NodeMetricStatus& s) { s.applications.clear(); }));
  CHECK(beyond([](NodeMetricStatus& s) { s.prod_reclaimable.reset(); }));
  CHECK(beyond([](NodeMetricStatus& s) { s.prod_peak = Amounts(); }));
  CHECK(beyond([](NodeMetricStatus& s) { s.system.amounts.reset(); }));
  CHECK(beyond([](NodeMetricStatus& s) { s.node_windows[1].usages = s.node_windows[0].usages; }));
  CHECK(beyond([](NodeMetricStatus& s) { s.node_windows.pop_back(), s.node_windows.pop_back(); }));
}

TEST_CASE("the usage of one pod and what is reclaimable count as the node does") {
  const UsageSummary before = usage_of(status());
  NodeMetricStatus other = status();
  other.pods[0].usage.amounts->cpu_milli += 700;
  CHECK(change(before, usage_of(other), kCapacity) == doctest::Approx(7));
  other.prod_reclaimable->cpu_milli += 900;
  CHECK(change(before, usage_of(other), kCapacity) == doctest::Approx(9));
}
