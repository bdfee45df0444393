// SPDX-License-Identifier: Apache-2.0
// A real Prometheus scrapes an agent while exporter.detail is reloaded. The agent enforces a strategy on pods of this
// kernel.
#include <doctest/doctest.h>

#include <csignal>

#include "test/composed/strategy_rows.hpp"
#include "test/support/prometheus_process.hpp"

using namespace koord::test;

namespace {

const std::string kPod = "koordetector_pod_cpu_usage{pod_name=\"service\"}";
const std::string kContainer = "koordetector_container_cpu_usage{pod_name=\"service\"}";
const std::string kDetail = "koordetector_container_memory_usage_with_page_cache{pod_name=\"service\"}";

// Returns the number of scrapes without `series` since it began.
std::optional<double> missed(const PrometheusProcess& prometheus, const std::string& series) {
  return prometheus.value("vector(scalar(count_over_time(up[1h])) - scalar(sum(count_over_time(" + series + "[1h]))))");
}

}  // namespace

TEST_CASE("a reload of exporter.detail ends and begins series in Prometheus, without a gap in the other series") {
  Sessions::Given given = quota().given;
  given.plugins.emplace_back("advisor-page-cache");
  Sessions node(given);
  expect_quota(node);
  REQUIRE(node.start());
  const PrometheusProcess prometheus(node.agent->tcp_address());
  const auto has = [&](const std::string& series) { return prometheus.value(series).has_value(); };
  REQUIRE(eventually([&] { return has(kPod) && has(kContainer); }, std::chrono::minutes(1)));
  const auto missed_at_first = missed(prometheus, kPod);
  REQUIRE(missed_at_first);
  const struct {
    const char* detail;
    bool container, details;
  } steps[] = {{"all", true, true},        {"pod", false, false}, {"all", true, true},
               {"container", true, false}, {"pod", false, false}, {"container", true, false}};
  for (const auto& step : steps) {
    INFO("detail " << step.detail);
    node.configure("exporter: {detail: " + std::string(step.detail) + "}\n");
    node.agent->process().signal(SIGHUP);
    CHECK(eventually([&] { return has(kContainer) == step.container && has(kDetail) == step.details; },
                     std::chrono::minutes(1)));
  }
  CHECK(missed(prometheus, kPod) == missed_at_first);
  // The strategy still works.
  CHECK_MESSAGE(node.settles(), node.unsettled());
  CHECK(node.agent->stop() == 0);
}
