// SPDX-License-Identifier: Apache-2.0
// The agent as an operator uses it: start, inspect, reload, stop.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"

using namespace koord::test;

namespace {

std::vector<std::string> first_party() {
  return {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource")};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<std::string> lines_with(const std::string& text, std::string_view part) {
  std::vector<std::string> lines;
  for (const std::string& line : koord::split(text, '\n'))
    if (contains(line, part)) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("the agent starts, is ready, and ends within 5 s of SIGTERM") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  CHECK(agent.get("/healthz") == "ok\n");
  CHECK(contains(agent.get("/readyz"), "[+] plugins: ok"));
  CHECK(agent.stop() == 0);
}

TEST_CASE("node metrics are on the loopback port, in one document with the host's own") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return find_metric(agent.metrics_over_tcp(), "koordetector_node_cpu_usage").has_value(); }));
  std::string text = agent.metrics_over_tcp();
  CHECK(find_metric(text, "koordetector_node_memory_usage", {"node=\"test-node\""}).value_or(0) > 1e6);
  CHECK(find_metric(text, "koordetector_host_resident_memory_bytes").value_or(0) > 1e6);
  CHECK(text.find("# TYPE koordetector_node_cpu_usage gauge") ==
        text.rfind("# TYPE koordetector_node_cpu_usage gauge"));
}

TEST_CASE("plugins with the same period share reads of cgroup files, and the agent counts reads and open files") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  CHECK(eventually([&] {
    return find_metric(agent.metrics_over_tcp(), "koordetector_host_cgroup_shared_reads_total").value_or(0) > 0;
  }));
  const std::string text = agent.metrics_over_tcp();
  const double files = find_metric(text, "koordetector_host_cgroup_files").value_or(0);
  const double kept = find_metric(text, "koordetector_host_cgroup_kept_descriptors", {"kind=\"file\""}).value_or(-1);
  CHECK(files > 0);
  CHECK(kept >= 0);
  CHECK(kept <= files);
  CHECK(find_metric(text, "koordetector_host_cgroup_reads_total").value_or(0) > 0);
  CHECK(find_metric(text, "koordetector_host_open_files_limit").value_or(0) >=
        find_metric(text, "koordetector_host_open_files").value_or(1e9));
  CHECK(contains(agent.get("/api/v1/node"), "\"keptFiles\":"));
}

TEST_CASE("the data API is on the socket only") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  CHECK(contains(agent.get("/api/v1/node"), "\"name\":\"test-node\""));
  CHECK(agent.status_of("/api/v1/query") == 400);
  CHECK(agent.status_of("/api/v1/nothing") == 404);
  CHECK_FALSE(contains(agent.metrics_over_tcp(), "api/v1"));
}

TEST_CASE("koordctl lists plugins, features and capabilities, as tables and as JSON") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  CHECK(contains(agent.ctl({"plugins"}).output, "advisor-node-resource"));
  CHECK(contains(agent.ctl({"features"}).output, "PodResourceCollector"));
  CHECK(contains(agent.ctl({"capabilities"}).output, "psi"));
  CHECK(agent.ctl({"plugins", "--output", "json"}).output.starts_with("{\"plugins\":["));
  CHECK(agent.ctl({"--output", "json", "plugins"}).output.starts_with("{\"plugins\":["));
  CHECK(agent.ctl({"plugins", "--output", "xml"}).exit_status == 2);
}

TEST_CASE(
    "acceptance 4: a refused plugin is one line of the log that says what was expected and found, and the agent is ready") {
  AgentProcess agent("featureGates: {Flawed: true}", first_party());
  struct {
    std::string plugin;
    std::vector<std::string> reported;
  } rows[] = {
      {"other-major", {"other-major is refused: expected plugin ABI 1.x, found 2.0"}},
      {"wants-unknown",
       {"wants-unknown is refused: wants-unknown requests service com.acme.magic/1, which this host does not have",
        "; offered to koord.advisor/1: koord.audit/1, koord.capabilities/1, ", "koord.metrics/1"}},
      {"wants-knobs",
       {"wants-knobs is refused: wants-knobs requests service koord.knobs/1, which is granted to koord.qos-strategy/1",
        "; offered to koord.advisor/1: koord.audit/1, koord.capabilities/1, ", "koord.metrics/1"}},
  };
  for (const auto& row : rows)
    std::filesystem::copy(built("test/core/load/plugins/" + row.plugin + ".so"),
                          agent.plugin_folder() + "/" + row.plugin + ".so");
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return find_metric(agent.metrics(), "koordetector_node_memory_usage").has_value(); }));
  for (const auto& row : rows) {
    const std::vector<std::string> lines = lines_with(agent.log(), row.plugin);
    REQUIRE_MESSAGE(lines.size() == 1, agent.log());
    for (const std::string& part : row.reported) CHECK_MESSAGE(contains(lines[0], part), lines[0]);
  }
  CHECK(agent.status_of("/readyz") == 200);
}

TEST_CASE("a gate that is off keeps its plugin from running, and SIGHUP turns it on") {
  AgentProcess agent("featureGates: {NodeResourceCollector: false}", first_party());
  REQUIRE(agent.start());
  CHECK(contains(agent.ctl({"features"}).output, "NodeResourceCollector  beta   on       off"));
  CHECK_FALSE(find_metric(agent.metrics(), "koordetector_node_memory_usage"));
  agent.write_config("featureGates: {NodeResourceCollector: true}");
  agent.process().signal(SIGHUP);
  CHECK(eventually([&] { return find_metric(agent.metrics(), "koordetector_node_memory_usage").has_value(); }));
}

TEST_CASE(
    "an own plugin runs in the agent; the same file elsewhere is a third party's: off by default, and the names of its metrics are reserved") {
  AgentProcess own("", first_party());
  REQUIRE(own.start());
  CHECK(eventually([&] { return find_metric(own.metrics(), "koordetector_node_memory_usage").has_value(); }));
  CHECK(contains(own.get("/api/v1/plugins"), "\"process\":0"));

  AgentProcess agent;
  std::filesystem::copy(built("plugins/advisor-node-resource/advisor-node-resource.so"), agent.plugin_folder());
  REQUIRE(agent.start());
  CHECK(contains(agent.ctl({"features"}).output, "NodeResourceCollector  beta   off      off"));
  agent.write_config("featureGates: {NodeResourceCollector: true}");
  agent.process().signal(SIGHUP);
  CHECK(eventually([&] { return contains(agent.get("/api/v1/plugins"), "is reserved for the agent's own plugins"); }));
  CHECK_FALSE(find_metric(agent.metrics(), "koordetector_node_memory_usage"));
}

TEST_CASE("a bad configuration at reload is reported and the last good one stays in force") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  agent.write_config("nodeNmae: x");
  agent.process().signal(SIGHUP);
  REQUIRE(eventually([&] { return contains(agent.get("/readyz"), "keeping the last good one"); }));
  CHECK(contains(agent.get("/readyz"), "nodeNmae"));
  CHECK(contains(agent.log(), "did you mean 'nodeName'"));
  CHECK(agent.stop() == 0);
}

TEST_CASE("check-config names the file, the line and the nearest key, and exits with 2") {
  AgentProcess agent("nodeNmae: x");
  Finished checked = run_to_end({built("core/agentd/koordetector"), "check-config", agent.config_path()});
  CHECK(checked.exit_status == 2);
  CHECK(contains(checked.output, agent.config_path() + ":8:1"));
  CHECK(contains(checked.output, "'nodeName'"));
  agent.write_config("log: {level: debug}");
  CHECK(run_to_end({built("core/agentd/koordetector"), "check-config", agent.config_path()}).exit_status == 0);
}

TEST_CASE("check-config applies the schema of a plugin to what the configuration gives it") {
  const std::string program = built("core/agentd/koordetector");
  AgentProcess agent("  settings: {com.example.actor: {config: {part: 5}}}", {built("test/core/child")});
  const Finished refused = run_to_end({program, "check-config", agent.config_path()});
  CHECK(refused.exit_status == 2);
  CHECK_MESSAGE(contains(refused.output, "plugins.settings.\"com.example.actor\".config: "), refused.output);
  CHECK(contains(refused.output, "/part"));
  agent.write_config("  settings: {com.example.actor: {config: {part: count}}}");
  const Finished fine = run_to_end({program, "check-config", agent.config_path()});
  CHECK_MESSAGE(fine.exit_status == 0, fine.output);
}

TEST_CASE(
    "check-config refuses a third-party plugin inside the agent process if the configuration requires isolation") {
  const std::string program = built("core/agentd/koordetector");
  AgentProcess agent("  minimumIsolation: [seccomp]\n  settings: {com.example.actor: {isolation: inprocess}}",
                     {built("test/core/child")});
  const Finished refused = run_to_end({program, "check-config", agent.config_path()});
  CHECK(refused.exit_status == 2);
  CHECK_MESSAGE(contains(refused.output, "plugins.settings.\"com.example.actor\".isolation: inprocess has none of "
                                         "plugins.minimumIsolation [seccomp]"),
                refused.output);
  agent.write_config("  minimumIsolation: [seccomp]\n  settings: {com.example.actor: {isolation: process}}");
  const Finished fine = run_to_end({program, "check-config", agent.config_path()});
  CHECK_MESSAGE(fine.exit_status == 0, fine.output);
}

TEST_CASE("a trusted key that cannot be read is an error of the configuration that names the key") {
  AgentProcess agent;
  Finished started = run_to_end({built("core/agentd/koordetector"), "--config", agent.config_path(), "--set",
                                 "plugins.trustedKeys=[/no/such.pem]"});
  CHECK(started.exit_status == 2);
  CHECK(contains(started.output, "plugins.trustedKeys: cannot resolve '/no/such.pem'"));
}

TEST_CASE("a trusted key that is missing at a reload is reported and the last good configuration stays in use") {
  AgentProcess agent;
  const std::string key = agent.folder() / "key.pem";
  std::ofstream(key) << "-----BEGIN PUBLIC KEY-----\n"
                        "MCowBQYDK2VwAyEAUtNXpXqDKT4pZVRie24gdwJcA1juh8FVmgA14KCiaiM=\n"
                        "-----END PUBLIC KEY-----\n";
  REQUIRE(agent.start({"--set", "plugins.trustedKeys=[" + key + "]"}));
  std::filesystem::remove(key);
  agent.process().signal(SIGHUP);
  CHECK(eventually([&] { return contains(agent.get("/readyz"), "cannot resolve '" + key + "'"); }));
}

TEST_CASE("check-config reports an unknown feature gate, and the agent still runs") {
  AgentProcess agent("featureGates: {NodeResourceColector: true}", first_party());
  Finished checked = run_to_end({built("core/agentd/koordetector"), "check-config", agent.config_path()});
  CHECK(checked.exit_status == 2);
  CHECK(contains(checked.output, "NodeResourceCollector"));
  REQUIRE(agent.start());
  CHECK(contains(agent.get("/readyz"), "[+] config: degraded"));
}

TEST_CASE("settings of an id that no plugin has are reported at start, at a reload and by check-config") {
  AgentProcess agent("  settings: {advisor-node-resorce: {sha256: \"\"}}", first_party());
  const std::string line =
      "plugins.settings.'advisor-node-resorce' names no plugin that was found, did you mean 'advisor-node-resource'?";
  const Finished checked = run_to_end({built("core/agentd/koordetector"), "check-config", agent.config_path()});
  CHECK_MESSAGE(contains(checked.output, "warning: " + line), checked.output);
  CHECK(checked.exit_status == 0);
  REQUIRE(agent.start());
  CHECK(contains(agent.log(), line));
  agent.write_config("  settings: {advisor-pod-resorce: {period: 1s}}");
  agent.process().signal(SIGHUP);
  CHECK(eventually(
      [&] { return contains(agent.log(), "plugins.settings.'advisor-pod-resorce' names no plugin that was found"); }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("a directory of own plugins that has none is named at start and by check-config") {
  const TemporaryFolder folder;
  const std::string own = folder / "own";
  std::filesystem::create_directory(own);
  AgentProcess agent("", {own});
  const std::string line = "plugins.ownDirectories: '" + own + "' has no *.so file, expected the agent's own plugins";
  const Finished checked = run_to_end({built("core/agentd/koordetector"), "check-config", agent.config_path()});
  CHECK_MESSAGE(contains(checked.output, "warning: " + line), checked.output);
  CHECK(checked.exit_status == 0);
  REQUIRE(agent.start());
  CHECK(contains(agent.log(), line));
  CHECK(agent.stop() == 0);
}

TEST_CASE("a second agent with the same metric cache or socket reports it and does not disturb the first") {
  AgentProcess agent("", first_party());
  REQUIRE(agent.start());
  std::vector<std::string> command{built("core/agentd/koordetector"), "--config", agent.config_path()};
  Finished second = run_to_end(command);
  CHECK(second.exit_status == 1);
  CHECK(contains(second.output, "'" + agent.store_path() + "' belongs to another agent that runs"));
  command.insert(command.end(), {"--set", "store.path="});
  Finished third = run_to_end(command);
  CHECK(third.exit_status == 1);
  CHECK(contains(third.output, agent.socket()));
  CHECK(agent.get("/healthz") == "ok\n");
}

TEST_CASE("koordctl names the socket that it tried if no agent answers") {
  AgentProcess agent;
  Finished ctl = agent.ctl({"top"});
  CHECK(ctl.exit_status == 1);
  CHECK(contains(ctl.output, "the agent does not answer on '" + agent.socket() + "'"));
}
