// SPDX-License-Identifier: Apache-2.0
// Debian's prometheus scrapes the agent, and promtool checks the page.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/prometheus_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr int kIntervalSeconds = PrometheusProcess::kIntervalSeconds;
constexpr const char* kStateOfTests = "state: {source: cgroup, cgroup: {paths: [\"koord-test-*\"]}, resyncPeriod: 1h}";

std::vector<std::string> usual_plugins() {
  return {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
          built("plugins/advisor-page-cache"), built("plugins/advisor-pod-throttled"), built("plugins/advisor-psi")};
}

// Returns the directories of all built plugins.
std::vector<std::string> every_plugin() {
  std::vector<std::string> directories;
  const std::vector<std::string> names = list_subdirectories(built("plugins")).value_or({});
  for (const std::string& name : names) {
    const std::string directory = built("plugins/" + name);
    if (std::ifstream(directory + "/" + name + ".so")) directories.push_back(directory);
  }
  return directories;
}

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Returns promtool's complaints about a page; empty: the page is valid.
std::string checked(const std::string& page) {
  TemporaryFolder folder;
  std::ofstream(folder / "page") << page;
  const Finished finished =
      run_to_end({"/bin/sh", "-c", std::string(KOORD_PROMTOOL) + " check metrics < " + (folder / "page")});
  return finished.exit_status == 0 ? finished.output
                                   : finished.output + "exit status " + std::to_string(finished.exit_status);
}

}  // namespace

TEST_CASE("promtool finds nothing wrong with the page of an agent with every plugin") {
  RealCgroup cgroup("promtool");
  AgentProcess agent(kStateOfTests, every_plugin());
  REQUIRE(agent.start({"--set", "exporter.detail=all"}));
  REQUIRE(eventually(
      [&] { return find_metric(agent.metrics(), "koordetector_container_memory_usage", {cgroup.dir()}).has_value(); }));
  // Wait for two ticks of the slowest plugins.
  REQUIRE(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_plugin_calls_total", {"advisor-pod-resource"}).value_or(0) > 12;
  }));
  CHECK(checked(agent.metrics()) == "");
  CHECK(agent.stop() == 0);
}

TEST_CASE("prometheus scrapes the agent without a warning") {
  AgentProcess agent(kStateOfTests, usual_plugins());
  REQUIRE(agent.start({"--set", "exporter.koordletNames=true"}));
  PrometheusProcess prometheus(agent.tcp_address());
  CHECK(eventually([&] { return prometheus.value("up") == 1; }, std::chrono::seconds(60)));
  CHECK(eventually([&] { return prometheus.value("koordetector_node_cpu_usage").value_or(-1) >= 0; },
                   std::chrono::seconds(60)));
  CHECK(eventually([&] { return prometheus.value("koordlet_node_used_cpu_cores").value_or(-1) >= 0; },
                   std::chrono::seconds(60)));
  CHECK(prometheus.value("min_over_time(up[1m])") == 1);
  CHECK(prometheus.value("scrape_samples_scraped - scrape_samples_post_metric_relabeling") == 0);
  const std::string log = prometheus.log();
  CHECK_MESSAGE(log.find("level=warn") == std::string::npos, log);
  CHECK_MESSAGE(log.find("level=error") == std::string::npos, log);
  CHECK(agent.stop() == 0);
}

TEST_CASE("a container's series end within one interval of its end") {
  RealCgroup cgroup("ends");
  AgentProcess agent(kStateOfTests, usual_plugins());
  REQUIRE(agent.start());
  PrometheusProcess prometheus(agent.tcp_address());
  const std::string series = "koordetector_container_memory_usage{container_name=\"" + cgroup.dir() + "\"}";
  REQUIRE(eventually([&] { return prometheus.value(series).has_value(); }, std::chrono::seconds(60)));
  const double ended = unix_now();
  cgroup.remove();
  CHECK(eventually([&] { return prometheus.value("up") == 1 && !prometheus.value(series); }, std::chrono::seconds(60)));
  // Uses Prometheus' own times: the last scrape with the series is at most one interval after the end.
  const double last_seen = prometheus.value("timestamp(last_over_time(" + series + "[5m]))").value_or(0);
  const double last_sample = prometheus.value("max_over_time(timestamp(" + series + ")[5m:1s])").value_or(last_seen);
  CHECK(last_sample <= ended + kIntervalSeconds);
  CHECK(agent.stop() == 0);
}
