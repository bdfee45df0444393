// SPDX-License-Identifier: Apache-2.0
// Debian's prometheus-node-exporter, brought in by an external advisor of a stranger.
#include <doctest/doctest.h>

#include <string>

#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "test/support/agent_process.hpp"

using namespace koord;
using namespace koord::test;

TEST_CASE("a node exporter's metrics are on the agent's page, but for what the plugin leaves out") {
  std::string address;
  {
    auto free_port = http::open_tcp_listener("127.0.0.1:0");
    address = "127.0.0.1:" + std::to_string(*http::local_port(free_port->get()));
  }
  ChildProcess exporter({KOORD_NODE_EXPORTER, "--web.listen-address=" + address}, "/dev/null");
  REQUIRE(eventually([&] { return http::get(address, "/metrics").has_value(); }));
  AgentProcess agent("featureGates: {Scraper: true}", {built("test/core/child")});
  const std::string settings = "plugins.settings.\"com.example.scraper\".";
  REQUIRE(agent.start({"--set", settings + "period=1s", "--set",
                       settings + "config={url: \"http://" + address + "/metrics\", only: node_, prefix: exporter_}"}));
  CHECK(eventually([&] { return find_metric(agent.metrics(), "koordetector_exporter_node_load1").has_value(); }));
  const std::string page = agent.metrics();
  CHECK(find_metric(page, "koordetector_exporter_node_memory_MemTotal_bytes").value_or(0) > 0);
  CHECK(page.find("# TYPE koordetector_exporter_node_cpu_seconds_total counter\n") != std::string::npos);
  CHECK(page.find("koordetector_exporter_go_") == std::string::npos);
  CHECK(find_metric(page, "koordetector_plugin_scrape_failures_total", {"plugin=\"com.example.scraper\""}) == 0);
  CHECK(find_metric(page, "koordetector_plugin_scrape_left_out_samples", {"plugin=\"com.example.scraper\""}) == 0);
  CHECK(agent.stop() == 0);
}
