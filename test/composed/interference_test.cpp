// SPDX-License-Identifier: Apache-2.0
// qos-interference on this kernel's files: a pod that uses all CPUs ("hog"), a service, and a second service of equal
// priority. A plugin of the test posts the verdicts; in one case the advisor does. The strategy takes its steps,
// withdraws them, restores files after SIGKILL, and works together with hooks.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/pods_by_hand.hpp"

using namespace koord::test;

namespace {

constexpr auto kLong = std::chrono::minutes(2);
constexpr std::string_view kEtlId = "e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e71e";
constexpr std::string_view kPeerId = "9ee29ee29ee29ee29ee29ee29ee29ee29ee29ee29ee29ee29ee29ee29ee29ee2";
constexpr std::string_view kServiceId = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";
constexpr const char* kEtlHolds = "default/service default/etl 0.038 0.62";
constexpr const char* kPeerHolds = "default/service default/peer 0.038 0.62";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string pod_yaml(const std::string& name, const std::string& qos, std::string_view id,
                     const std::string& resources = "{}", const std::string& annotations = "{}") {
  return "- metadata: {uid: " + name + ", name: " + name +
         ", namespace: default, labels: {koordinator.sh/qosClass: " + qos + "}, annotations: " + annotations +
         "}\n  spec: {containers: [{name: main, resources: " + resources +
         "}]}\n  status:\n    phase: Running\n    qosClass: Burstable\n" +
         "    containerStatuses: [{name: main, containerID: \"containerd://" + std::string(id) +
         "\", state: {running: {}}}]\n";
}

// A service (LS), `peer` of equal priority (LS), and `etl` (BE), which uses all CPUs. All have cgroups in the burstable
// class.
struct InterferenceFixture {
  InterferenceFixture() {
    for (const RealCgroup* cgroup : {&pods.service_pod, &etl_pod, &peer_pod}) pods.set_shares(*cgroup, 512);
    for (std::size_t i = 0; i < pods.cpus(); ++i) {
      hogs.push_back(std::make_unique<ChildProcess>([] {
        for (;;) asm volatile("");
      }));
      etl.add_process(hogs.back()->pid());
    }
    pods.write_slo(folder.path(), "{cpuBurstStrategy: {policy: none}}");
    write_pods();
    before = knobs();
  }

  // Returns the knobs without the cgroups that the agent makes for third-party plugins.
  std::map<std::string, std::string> knobs() const {
    std::map<std::string, std::string> all = pods.knobs();
    std::erase_if(all, [](const auto& file) { return file.first.find("/kubepods") == std::string::npos; });
    return all;
  }

  void write_pods(const std::string& etl_resources = "{}", const std::string& etl_annotations = "{}") const {
    REQUIRE(koord::write_file_atomically(folder / "pods.yaml",
                                         "kind: PodList\nitems:\n" + pod_yaml("service", "LS", kServiceId) +
                                             pod_yaml("peer", "LS", kPeerId) +
                                             pod_yaml("etl", "BE", kEtlId, etl_resources, etl_annotations)));
  }

  std::string config(const std::string& blames, const std::string& slander = "",
                     const std::string& trusted = "[]") const {
    return "  settings: {judge: {config: {blames: \"" + blames + "\"}}, com.example.slanderer: {config: {blames: \"" +
           slander + "\"}}, qos-interference: {config: {stepSeconds: " + std::to_string(step_seconds) +
           ", probeSeconds: " + std::to_string(step_seconds) + ", evict: false, verdictsFrom: " + trusted +
           "}}}\nroots: {cgroup: " + root + "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" +
           ", nodeSLO: " + folder / "slo.yaml" + "}}\nqos: {mode: " + mode + "}";
  }

  void start(const std::string& blames, const std::vector<std::string>& more = {}, const std::string& gates = "",
             const std::string& slander = "") {
    std::vector<std::string> plugins = {built("plugins/advisor-pod-resource"), built("plugins/qos-interference"),
                                        built("test/e2e/plugins/judges/own")};
    for (const std::string& plugin : more) plugins.push_back(built(plugin));
    agent.emplace(config(blames, slander), plugins);
    arguments = {"--feature-gates=InterferenceMitigation=true" + gates};
    REQUIRE(agent->start(arguments));
  }

  void blame(const std::string& blames, const std::string& slander = "", const std::string& trusted = "[]") {
    agent->write_config(config(blames, slander, trusted));
    agent->process().signal(SIGHUP);
  }

  std::string weight() const { return pods.read(etl_pod, pods.is_v2() ? "cpu.weight" : "cpu.shares"); }
  std::string least_weight() const { return pods.is_v2() ? "1" : "2"; }
  bool has_least_weight() const { return weight() == least_weight(); }
  long quota() const {
    const std::string text = pods.read(etl_pod, "cpu.max");
    return text.starts_with("max") ? -1 : std::atol(text.c_str());
  }
  std::string why(const std::string& pod = "default/etl") const { return agent->ctl({"why", pod}).output; }
  bool becomes(const std::function<bool()>& condition) {
    const bool became = eventually(condition, kLong);
    CHECK_MESSAGE(became, why() << agent->log());
    return became;
  }
  std::string differences() const { return changes(before, knobs()); }
  // Returns the pod's step from the agent's metrics; nullopt if it is not restrained.
  std::optional<double> step(const std::string& pod) const {
    return find_metric(agent->metrics(), "koordetector_pod_interference_step", {"pod_name=\"" + pod + "\""});
  }

  TemporaryFolder folder;
  PodsByHand pods{"ladder"};
  RealCgroup etl_pod{pods.burstable, "podetl"}, etl{etl_pod, kEtlId};
  RealCgroup peer_pod{pods.burstable, "podpeer"}, peer{peer_pod, kPeerId};
  const std::string root = pods.root(folder.path());
  std::vector<std::unique_ptr<ChildProcess>> hogs;
  std::map<std::string, std::string> before;
  std::string mode = "enforce";
  int step_seconds = 2;
  std::vector<std::string> arguments;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE_FIXTURE(InterferenceFixture,
                  "a hog gets the least weight, then a quota of half its use, and its own values after the verdict") {
  step_seconds = 10;
  start(kEtlHolds);
  REQUIRE(becomes([&] { return has_least_weight(); }));
  CHECK(quota() == -1);
  CHECK(eventually([&] { return step("etl") == 1.0; }));
  const std::string of_weight = why();
  CHECK_MESSAGE(has(of_weight, "qos-interference"), of_weight);
  CHECK_MESSAGE(has(of_weight, "default/service/main (cpu, 38 ms/s of its waits, 62 %, exact), verdict "), of_weight);
  CHECK_MESSAGE(has(of_weight, " of judge"), of_weight);

  REQUIRE(becomes([&] { return quota() > 0; }));
  CHECK(has_least_weight());
  CHECK(quota() <= 100'000 * static_cast<long>(pods.cpus()) / 2);
  CHECK(eventually([&] { return step("etl") == 2.0; }));
  // No file of the service, of its peer or of the classes has changed.
  std::map<std::string, std::string> others = before, now = knobs();
  const auto is_of_etl = [](const auto& file) { return file.first.find("podetl") != std::string::npos; };
  std::erase_if(others, is_of_etl);
  std::erase_if(now, is_of_etl);
  CHECK(changes(others, now) == "");

  blame("");
  CHECK(becomes([&] { return differences().empty(); }));
  CHECK(agent->stop() == 0);
  CHECK(differences() == "");
}

TEST_CASE_FIXTURE(InterferenceFixture,
                  "by the verdicts of advisor-interference a hog is restrained, and released after its end") {
  if (!std::filesystem::exists(built("plugins/advisor-interference/advisor-interference.so"))) {
    MESSAGE("left out here: advisor-interference is not built");
    return;
  }
  pods.set_shares(pods.service_pod, 256);
  pods.set_shares(etl_pod, 2048);
  before = knobs();
  ChildProcess service([] {
    for (;;) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
      while (std::chrono::steady_clock::now() < end) asm volatile("");
      ::usleep(1500);
    }
  });
  pods.service.add_process(service.pid());
  start("", {"plugins/advisor-interference"}, ",InterferenceCollector=true");
  if (!eventually([&] { return has(agent->log(), "advisor-interference is running"); }, std::chrono::seconds(20))) {
    MESSAGE("left out here: ", agent->log());
    return;
  }
  // Reduces the effect of other load. This comes only now, because the plugin needs CPU time to load its programs.
  pods.set_shares(pods.top, 262'144);
  REQUIRE(becomes([&] { return has_least_weight(); }));
  CHECK_MESSAGE(has(why(), "default/service/main (cpu, "), why());
  CHECK_MESSAGE(has(why(), " of advisor-interference"), why());
  hogs.clear();
  CHECK(becomes([&] { return differences().empty(); }));
}

TEST_CASE_FIXTURE(InterferenceFixture,
                  "an agent that is killed while a hog is restrained restores it at its next start") {
  start(kEtlHolds);
  REQUIRE(becomes([&] { return has_least_weight() && quota() > 0; }));
  agent->kill();
  CHECK(has_least_weight());
  agent->write_config(config(""));
  REQUIRE(agent->start(arguments));
  CHECK(becomes([&] { return differences().empty(); }));
}

TEST_CASE_FIXTURE(InterferenceFixture, "an agent that ends while a hog is restrained restores the hog's files") {
  start(kEtlHolds);
  REQUIRE(becomes([&] { return has_least_weight(); }));
  CHECK(agent->stop() == 0);
  CHECK(differences() == "");
}

TEST_CASE_FIXTURE(InterferenceFixture, "pods of equal priority are never restrained, though verdicts blame them") {
  start(std::string(kPeerHolds) + "; default/etl default/peer 0.5 0.9; default/etl default/service 0.5 0.9;" +
        kEtlHolds);
  REQUIRE(becomes([&] { return has_least_weight() && quota() > 0; }));  // after several steps
  for (const char* pod : {"peer", "service"}) {
    CHECK_FALSE(step(pod));
    CHECK_MESSAGE(!has(why(std::string("default/") + pod), "qos-interference"), why());
  }
  CHECK_FALSE(has(differences(), "podpeer"));
  CHECK_FALSE(has(differences(), "podservice"));
}

TEST_CASE_FIXTURE(InterferenceFixture, "a hog under hands-off is not written, and no further step is taken") {
  write_pods("{}", "{koordetector.sh/hands-off: \"true\"}");
  start(kEtlHolds);
  REQUIRE(becomes([&] { return step("etl") == 1.0; }));
  CHECK(differences() == "");
  write_pods();
  CHECK(becomes([&] { return has_least_weight() && quota() > 0; }));
  write_pods("{}", "{koordetector.sh/hands-off: qos-interference}");
  CHECK(becomes([&] { return differences().empty(); }));
}

TEST_CASE_FIXTURE(InterferenceFixture, "in shadow mode the first step is recorded and not written") {
  mode = "shadow";
  start(kEtlHolds);
  REQUIRE(becomes([&] { return has(why(), "qos-interference") && has(why(), "shadow"); }));
  CHECK(step("etl") == 1.0);
  CHECK(differences() == "");
}

TEST_CASE_FIXTURE(InterferenceFixture, "verdicts of a third party have no effect unless the configuration names it") {
  start("", {"test/e2e/plugins/judges"}, ",Slanderer=true", kEtlHolds);
  // The plugin posts verdicts already. They have an effect as soon as the plugin is trusted, and not before.
  REQUIRE(becomes([&] { return find_metric(agent->metrics(), "koordetector_interference_restrained_pods") == 0.0; }));
  REQUIRE(becomes([&] { return has(agent->ctl({"plugins"}).output, "com.example.slanderer"); }));
  CHECK(differences() == "");
  blame("", kEtlHolds, "[com.example.slanderer]");
  CHECK(becomes([&] { return has_least_weight(); }));
  CHECK_MESSAGE(has(why(), "of com.example.slanderer"), why());
  blame("", kEtlHolds);
  CHECK(becomes([&] { return differences().empty(); }));
  CHECK(agent->stop() == 0);  // the agent removes the cgroups of the plugin
}

TEST_CASE_FIXTURE(
    InterferenceFixture,
    "the least weight overrides the weight that a hook set, and the hook's weight is restored afterwards") {
  write_pods("{requests: {kubernetes.io/batch-cpu: 500}}");
  start("", {"plugins/hook-batch-resource"}, ",BatchResource=true");
  const std::string base = pods.is_v2() ? "20" : "512";
  pods.set_shares(etl_pod, 1024);  // lets the hook find a different value
  REQUIRE(becomes([&] { return weight() == base; }));
  blame(kEtlHolds);
  REQUIRE(becomes([&] { return has_least_weight(); }));
  const std::string both = why();
  CHECK_MESSAGE((has(both, "hook-batch-resource") && has(both, "qos-interference")), both);
  blame("");
  CHECK(becomes([&] { return weight() == base && quota() == -1; }));
}

TEST_CASE_FIXTURE(InterferenceFixture,
                  "a hog that a hook has made idle gets a cap at once, and is idle again afterwards") {
  if (!pods.knows("cpu.idle")) {
    MESSAGE("left out here: this kernel has no cpu.idle");
    return;
  }
  pods.write_slo(folder.path(), "{resourceQOSStrategy: {beClass: {cpuQOS: {enable: true, groupIdentity: -1}}}}");
  start("", {"plugins/hook-group-identity"}, ",GroupIdentity=true");
  const auto is_idle = [&] { return pods.read(etl_pod, "cpu.idle") == "1"; };
  REQUIRE(becomes(is_idle));
  blame(kEtlHolds);
  REQUIRE(becomes([&] { return quota() > 0; }));
  CHECK(is_idle());
  CHECK_MESSAGE(!has(why(), "cpu.weight"), why());
  blame("");
  CHECK(becomes([&] { return quota() == -1; }));
  CHECK(is_idle());
}
