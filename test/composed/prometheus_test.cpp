// SPDX-License-Identifier: Apache-2.0
// A real Prometheus scrapes an agent that enforces a strategy and is interrupted in every way.
#include "test/support/prometheus_process.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "test/composed/strategy_rows.hpp"

using namespace koord::test;

namespace {

// Returns a port that is free now. Each session listens on it, so all sessions are one target.
std::string free_address() {
  const auto listener = koord::http::open_tcp_listener("127.0.0.1:0");
  return "127.0.0.1:" + std::to_string(*koord::http::local_port(listener->get()));
}

double longest_gap(const std::vector<double>& times) {
  double longest = 0;
  for (std::size_t i = 1; i < times.size(); ++i) longest = std::max(longest, times[i] - times[i - 1]);
  return longest;
}

}  // namespace

TEST_CASE("Prometheus sees no gap longer than two intervals, with every interruption of the agent") {
  Sessions node(quota().given);
  expect_quota(node);
  const std::string address = free_address();
  node.arguments = {"--set", "listen.metrics=\"" + address + "\""};
  REQUIRE(node.start());
  const PrometheusProcess prometheus(address);
  REQUIRE(eventually([&] { return prometheus.scrapes().size() >= 2; }, std::chrono::minutes(1)));
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    const std::size_t scrapes = prometheus.scrapes().size();
    CHECK(eventually([&] { return prometheus.scrapes().size() >= scrapes + 2; }, std::chrono::minutes(1)));
    CHECK(longest_gap(prometheus.scrapes()) <= 2 * PrometheusProcess::kIntervalSeconds + 0.5);
  }
  MESSAGE("scrapes: " << prometheus.scrapes().size() << ", longest gap " << longest_gap(prometheus.scrapes()) << " s");
  CHECK(node.agent->stop() == 0);
}
