// SPDX-License-Identifier: Apache-2.0
// Metrics of Debian's prometheus-node-exporter, imported by external-prometheus and by a third-party external advisor.
#include <doctest/doctest.h>

#include <string>

#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "test/support/agent_process.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct NodeExporter {
  std::string address = [] {
    auto free_port = http::open_tcp_listener("127.0.0.1:0");
    return "127.0.0.1:" + std::to_string(*http::local_port(free_port->get()));
  }();
  ChildProcess process{{KOORD_NODE_EXPORTER, "--web.listen-address=" + address}, "/dev/null"};

  NodeExporter() {
    REQUIRE(eventually([&] { return http::get(address, "/metrics").has_value(); }));
  }
  std::string page() const { return http::get(address, "/metrics")->body; }
};

}  // namespace

TEST_CASE("external-prometheus imports a node exporter's metrics by the rules of its target") {
  NodeExporter exporter;
  AgentProcess agent({}, {built("plugins/external-prometheus")});
  REQUIRE(agent.start(
      {"--set",
       "plugins.settings.external-prometheus.config={targets: [{name: exporter, periodSeconds: 1, url: \"http://" +
           exporter.address + "/metrics\", metrics: [\"node_*\"], rename: {prefix: x_}, labels: {drop: [mode]}}]}"}));
  REQUIRE(eventually([&] { return find_metric(agent.metrics(), "koordetector_x_node_load1").has_value(); }));
  const std::string page = agent.metrics();
  CHECK(find_metric(page, "koordetector_x_node_memory_MemTotal_bytes", {"target=\"exporter\""}) ==
        find_metric(exporter.page(), "node_memory_MemTotal_bytes"));
  CHECK(page.find("# TYPE koordetector_x_node_context_switches_total counter\n") != std::string::npos);
  CHECK(page.find("koordetector_go_") == std::string::npos);
  CHECK(page.find("koordetector_x_node_cpu_seconds_total{node=") != std::string::npos);
  CHECK(page.find("mode=\"idle\"") == std::string::npos);
  CHECK(find_metric(page, "koordetector_plugin_scrape_failures_total", {"plugin=\"external-prometheus\""}) == 0);
  CHECK(
      find_metric(page, "koordetector_plugin_scrape_dropped_samples", {"plugin=\"external-prometheus\""}).value_or(0) >
      0);
  CHECK(agent.stop() == 0);
}

TEST_CASE("without a rule all metrics of a node exporter are imported") {
  NodeExporter exporter;
  AgentProcess agent({}, {built("plugins/external-prometheus")});
  REQUIRE(agent.start(
      {"--set",
       "plugins.settings.external-prometheus.config={targets: [{name: exporter, periodSeconds: 1, url: \"http://" +
           exporter.address + "/metrics\"}]}"}));
  REQUIRE(eventually([&] { return find_metric(agent.metrics(), "koordetector_node_load1").has_value(); }));
  const std::string page = agent.metrics();
  CHECK(find_metric(page, "koordetector_plugin_scraped_samples", {"plugin=\"external-prometheus\""}).value_or(0) > 100);
  CHECK(find_metric(page, "koordetector_plugin_scrape_left_out_samples", {"plugin=\"external-prometheus\""}) == 0);
  CHECK(agent.stop() == 0);
}

TEST_CASE("without targets external-prometheus is absent and reports why") {
  AgentProcess agent({}, {built("plugins/external-prometheus")});
  REQUIRE(agent.start());
  CHECK(eventually([&] { return agent.ctl({"plugins"}).output.find("no targets configured") != std::string::npos; }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("a node exporter's metrics are on the agent's page, except for those that the plugin leaves out") {
  NodeExporter exporter;
  AgentProcess agent("featureGates: {Scraper: true}", {built("test/core/child")});
  const std::string settings = "plugins.settings.\"com.example.scraper\".";
  REQUIRE(agent.start(
      {"--set", settings + "period=1s", "--set", settings + "network=[tcp]", "--set",
       settings + "config={url: \"http://" + exporter.address + "/metrics\", only: node_, prefix: exporter_}"}));
  CHECK(eventually([&] { return find_metric(agent.metrics(), "koordetector_exporter_node_load1").has_value(); }));
  const std::string page = agent.metrics();
  CHECK(find_metric(page, "koordetector_exporter_node_memory_MemTotal_bytes").value_or(0) > 0);
  CHECK(page.find("# TYPE koordetector_exporter_node_cpu_seconds_total counter\n") != std::string::npos);
  CHECK(page.find("koordetector_exporter_go_") == std::string::npos);
  CHECK(find_metric(page, "koordetector_plugin_scrape_failures_total", {"plugin=\"com.example.scraper\""}) == 0);
  CHECK(find_metric(page, "koordetector_plugin_scrape_left_out_samples", {"plugin=\"com.example.scraper\""}) == 0);
  CHECK(agent.stop() == 0);
}
