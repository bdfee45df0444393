// SPDX-License-Identifier: Apache-2.0
// Third-party plugins: each example is built only with its own Makefile and pkg-config, copied into a plugin directory
// and enabled by its gate.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/child/landlock.hpp"
#include "test/conformance/author.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;

namespace {

// The cgroup of a best-effort pod as a kubelet makes it, and the PodList with it.
class BestEffortPod {
 public:
  explicit BestEffortPod(const std::string& pod_list) {
    std::ofstream(pod_list) << "items:\n"
                               "  - metadata: {uid: u2, namespace: reports, name: nightly}\n"
                               "    spec: {containers: [{name: main}]}\n"
                               "    status: {phase: Running, qosClass: BestEffort}\n";
  }
  const std::string& cgroup() const { return pod_.dir(); }

 private:
  RealCgroup top_{"strategy"}, kubepods_{top_, "kubepods"}, best_effort_{kubepods_, "besteffort"},
      pod_{best_effort_, "podu2"};
};

// Returns the line of a koordctl table with this word; empty if no line has it.
std::string line_with(const std::string& table, std::string_view word) {
  const std::size_t at = table.find(word);
  if (at == std::string::npos) return "";
  const std::size_t begin = table.rfind('\n', at) + 1;
  return table.substr(begin, table.find('\n', at) - begin);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Example {
  std::string folder, plugin, id, gate, own_tests;  // `own_tests` is empty for an example without tests
};

const Example kExamples[] = {
    {"hello", "hello.so", "org.example.hello", "Hello", ""},
    {"advisor-c", "advisor.so", "com.example.open-files", "OpenFilesExample", "4 tests, 0 checks failed"},
    {"advisor-cpp", "advisor.so", "com.example.scheduler", "SchedulerExample", "6 tests, 0 checks failed"},
    {"external-advisor-cpp", "external_advisor.so", "com.example.endpoint", "EndpointExample",
     "5 tests, 0 checks failed"},
    {"strategy-cpp", "strategy.so", "com.example.ceiling", "CeilingExample", "6 tests, 0 checks failed"},
    {"interference-rule", "rule.so", "com.example.throttling-rule", "ThrottlingRuleExample",
     "5 tests, 0 checks failed"},
    {"hook-c", "hook.so", "com.example.qos-shares", "QosSharesExample", "4 tests, 0 checks failed"},
};

// An example with a metric that is above zero on every machine.
struct Measuring {
  std::string folder, id, gate, metric;
};

const Measuring kAdvisors[] = {
    {"advisor-c", "com.example.open-files", "OpenFilesExample", "koordetector_example_open_files"},
    {"advisor-cpp", "com.example.scheduler", "SchedulerExample", "koordetector_example_context_switches_total"},
};

}  // namespace

TEST_CASE(
    "each example builds without a warning against an installed prefix, is a sound plugin and passes its own tests") {
  for (const Example& example : kExamples) {
    CAPTURE(example.folder);
    const Author author(example.folder, example.plugin);
    const Finished made = author.make();
    REQUIRE_MESSAGE(made.exit_status == 0, made.output);
    CHECK_FALSE(has(made.output, "warning"));
    CHECK(complaints_about(author.plugin()) == "");
    if (example.own_tests.empty()) continue;
    const Finished checked = author.make("check");
    CHECK_MESSAGE(checked.exit_status == 0, checked.output);
    CHECK_MESSAGE(has(checked.output, example.own_tests), checked.output);
  }
}

TEST_CASE(
    "each example runs with all layers of confinement and without a grant, also where the configuration demands them" *
    doctest::skip(::geteuid() != 0 || RealCgroup::unavailable().has_value() || !koord::child::landlock_abi())) {
  std::string gates;
  AgentProcess agent;
  for (const Example& example : kExamples) {
    const Author author(example.folder, example.plugin);
    REQUIRE(author.make().exit_status == 0);
    std::filesystem::copy(author.plugin(), agent.plugin_folder() + "/" + example.folder + ".so");
    gates += (gates.empty() ? "" : ", ") + example.gate + ": true";
  }
  agent.write_config("  minimumIsolation: [uid, landlock, seccomp, cgroup]\n"
                     "  settings: {com.example.endpoint: {config: {url: \"http://127.0.0.1:1/metrics\"}}}\n"
                     "featureGates: {" +
                     gates + "}");
  REQUIRE(agent.start());
  for (const Example& example : kExamples) {
    std::string row;
    const bool runs =
        eventually([&] { return has(row = line_with(agent.ctl({"plugins"}).output, example.id), "running"); });
    CHECK_MESSAGE(runs, row);
    CHECK_MESSAGE(has(row, " uid+landlock+seccomp+cgroup "), row);
  }
  CHECK(eventually([&] { return find_metric(agent.metrics(), "koordetector_load1").has_value(); }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("each example advisor measures in the real host while its gate is on, and only then") {
  for (const Measuring& advisor : kAdvisors) {
    CAPTURE(advisor.folder);
    const Author author(advisor.folder, "advisor.so");
    REQUIRE(author.make().exit_status == 0);
    AgentProcess agent("");
    author.install(agent);
    REQUIRE(agent.start());
    CHECK(has(agent.get("/api/v1/plugins"), advisor.id));
    CHECK_FALSE(has(agent.metrics(), advisor.metric));
    CHECK(agent.stop() == 0);
    REQUIRE(agent.start({"--feature-gates=" + advisor.gate + "=true"}));
    CHECK(eventually([&] { return find_metric(agent.metrics(), advisor.metric).value_or(0) > 0; }));
    CHECK(agent.stop() == 0);
  }
}

TEST_CASE("the C example counts the processes of a pod on this kernel, with the same result in both isolations" *
          doctest::skip(RealCgroup::unavailable().has_value())) {
  const Author author("advisor-c", "advisor.so");
  REQUIRE(author.make().exit_status == 0);
  RealCgroup pod("pod-processes");
  RealCgroup container(pod, "app"), nested(container, "nested");
  ChildProcess first({"sleep", "600"}), second({"sleep", "600"}), other({"sleep", "600"});
  container.add_process(first.pid());
  nested.add_process(second.pid());
  const TemporaryFolder folder;
  std::ofstream(folder / "pods.yaml")
      << "items:\n- metadata: {uid: u1, namespace: shop, name: cart, annotations: {koordetector.sh/cgroup-dir: "
      << pod.dir() << ", koordetector.sh/cgroup-dir.app: " << container.dir()
      << "}}\n  spec: {containers: [{name: app}]}\n";
  std::vector<std::string> reports;
  for (const bool in_process : {false, true}) {
    std::vector<std::string> command{built("core/ctl/koordctl"), "plugin", "run", author.plugin(), "--pods",
                                     folder / "pods.yaml",       "-t",     "1",   "--period",      "10ms"};
    if (in_process) command.emplace_back("--inprocess");
    const Finished ran = run_to_end(command, std::chrono::seconds(60));
    REQUIRE_MESSAGE(ran.exit_status == 0, ran.output);
    reports.push_back(line_with(ran.output, "example_pod_processes"));
    CHECK_MESSAGE(has(reports.back(), "pod_namespace=shop"), ran.output);
    CHECK_MESSAGE(has(reports.back(), " 2  processes"), reports.back());
  }
  CHECK(reports[0] == reports[1]);
}

TEST_CASE("the external advisor in C++ imports the metrics of another agent") {
  const Author author("external-advisor-cpp", "external_advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess other;
  REQUIRE(other.start());
  AgentProcess agent("featureGates: {EndpointExample: true}");
  author.install(agent);
  const std::string settings = "plugins.settings.\"com.example.endpoint\".";
  REQUIRE(agent.start({"--set", settings + "period=1s", "--set", settings + "network=[unix]", "--set",
                       settings + "writePaths=[" + other.socket() + "]", "--set",
                       settings + "config={url: \"unix:" + other.socket() +
                           ":/metrics\", prefix: other_, allow: [\"koordetector_host_*\"]}"}));
  CHECK(eventually([&] { return agent.metrics().find("koordetector_other_koordetector_host_") != std::string::npos; }));
  CHECK(agent.metrics().find("koordetector_other_koordetector_store_") == std::string::npos);
  CHECK(agent.ctl({"plugins"}).output.find("com.example.endpoint") != std::string::npos);
  other.kill();
  CHECK(eventually([&] { return agent.ctl({"plugins"}).output.find("scrape failed: ") != std::string::npos; }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the strategy in C++ proposes in shadow, and koordctl decisions shows its intents and reasons" *
          doctest::skip(RealCgroup::unavailable().has_value())) {
  const Author author("strategy-cpp", "strategy.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("", {built("plugins/advisor-node-resource")});
  const BestEffortPod pod(agent.folder() / "pods.yaml");
  agent.write_config("featureGates: {CeilingExample: true}\nstate: {source: file, file: {pods: \"" +
                     (agent.folder() / "pods.yaml") + "\"}}");
  author.install(agent);
  const std::string settings = "plugins.settings.\"com.example.ceiling\".";
  REQUIRE(agent.start(
      {"--set", settings + "period=100ms", "--set", settings + "config={busyPercent: 0, ceilingMilliCores: 200}"}));
  CHECK(eventually([&] { return has(line_with(agent.ctl({"plugins"}).output, "com.example.ceiling"), "running"); }));
  REQUIRE(eventually([&] { return has(agent.ctl({"decisions"}).output, "com.example.ceiling"); }));
  const std::string decision = line_with(agent.ctl({"decisions"}).output, "com.example.ceiling");
  CAPTURE(decision);
  CHECK(has(decision, pod.cgroup() + "  cpu.max"));
  CHECK(has(decision, "20000 100000  shadow"));
  CHECK(has(decision, "the node uses "));
  CHECK(has(agent.ctl({"decisions", "-o", "json"}).output, "\"node_cpus\""));
  CHECK(eventually([&] { return has(agent.log(), "cpu.max of '" + pod.cgroup() + "' is not ours: "); }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the hook in C runs in the real host once its gate is on, but not with invalid settings") {
  const Author author("hook-c", "hook.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {QosSharesExample: true}");
  author.install(agent);
  REQUIRE(agent.start());
  auto listed = [&] { return line_with(agent.ctl({"plugins"}).output, "com.example.qos-shares"); };
  CHECK(eventually([&] { return has(listed(), "running"); }));
  CHECK(agent.stop() == 0);
  REQUIRE(agent.start({"--set", "plugins.settings.\"com.example.qos-shares\".config={shares: {BE: 1}}"}));
  CHECK(eventually([&] { return has(listed(), "/shares/BE"); }));
  CHECK_FALSE(has(listed(), "running"));
  CHECK(agent.stop() == 0);
}
