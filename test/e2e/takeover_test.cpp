// SPDX-License-Identifier: Apache-2.0
// `koordctl takeover koordlet` on this machine's kernel: cgroups of a service and a best-effort pod as a kubelet makes
// them, with values that koordlet left there.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/pods_by_hand.hpp"

using namespace koord::test;
using koord::cgroup::Controller;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

enum class PodList { complete, missing, none };  // none: pods are found by their cgroups

struct Node {
  explicit Node(PodList list = PodList::complete) {
    pods.limit_cpu(pods.service_pod, 10'000);  // the quota that a kubelet sets for 100m
    pods.limit_cpu(pods.service, 10'000);
    pods.write_files(folder.path(), "{cpuBurstStrategy: {policy: none}}",
                     "{requests: {cpu: 100m}, limits: {cpu: 100m}}");
    expected = pods.knobs();
    leave();
    // On v2 the kernel does not clear the cpuset; all CPUs have the same effect.
    if (pods.is_v2())
      expected[pods.besteffort.path(Controller::cpuset) + "/cpuset.cpus"] =
          "0-" + std::to_string(pods.cpus() - 1) + "\n";
    agent.emplace("roots: {cgroup: " + pods.root(folder.path()) + ", resctrl: " + folder / "resctrl" +
                  "}\nstate: {source: " + (list == PodList::none ? "cgroup" : "file") +
                  ", file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " + folder / "slo.yaml" + "}}");
    if (list == PodList::missing) fs::remove(folder / "pods.yaml");
    agent->launch();
    const char* const answer = list == PodList::missing ? "pods are not known yet" : "2 pods from";
    REQUIRE(eventually([&] { return has(agent->ctl({"pods"}).output, answer); }));
  }

  // Writes what koordlet writes: burst raised the service's quota, suppression reduced the class's CPUs, memory QoS
  // protected memory.
  void leave() {
    pods.limit_cpu(pods.service_pod, 30'000);
    pods.limit_cpu(pods.service, 30'000);
    pods.limit_cpu(pods.besteffort, 50'000);
    set(pods.service, Controller::memory, "memory.min", "4096");
    set(pods.burstable, Controller::memory, "memory.min", "4096");
    set(pods.service, Controller::memory, "memory.high", "104857600");
    set(pods.service, Controller::cpu, pods.is_v2() ? "cpu.max.burst" : "cpu.cfs_burst_us", "10000");
    set(pods.is_v2() ? pods.besteffort : pods.batch, Controller::cpuset, "cpuset.cpus", "0");
  }
  void set(const RealCgroup& cgroup, Controller controller, const std::string& file, const std::string& text) {
    const std::string path = cgroup.path(controller) + "/" + file;
    if (fs::exists(path)) REQUIRE(koord::write_value(path, text));
  }

  PodsByHand pods{"takeover"};
  TemporaryFolder folder;
  std::map<std::string, std::string> expected;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE_FIXTURE(Node,
                  "koordlet's leftovers are listed with their bases, then the kernel has what the pods' specs say") {
  const std::map<std::string, std::string> left = pods.knobs();
  const Finished listed = agent->ctl({"takeover", "koordlet", "--dry-run"});
  INFO(listed.output);
  CHECK(listed.exit_status == 0);
  CHECK(has(listed.output, "30000 100000  10000 100000  limit 100m"));
  CHECK(has(listed.output, "50000 100000  max 100000"));
  CHECK(has(listed.output, "default/service main"));
  CHECK(has(listed.output, "nothing was written"));
  CHECK(pods.knobs() == left);

  const Finished done = agent->ctl({"takeover", "koordlet"});
  INFO(done.output);
  CHECK(done.exit_status == 0);
  CHECK(has(done.output, "applied"));
  CHECK_FALSE(has(done.output, "failed"));
  CHECK(changes(expected, pods.knobs()) == "");

  const Finished again = agent->ctl({"takeover", "koordlet", "--dry-run"});
  CHECK(has(again.output, "0 of "));
  CHECK(agent->stop() == 0);
  CHECK(changes(expected, pods.knobs()) == "");  // no further value was reverted
}

namespace {

struct NodeWithoutSpecs : Node {
  NodeWithoutSpecs() : Node(PodList::none) {}
};
struct NodeWithoutPods : Node {
  NodeWithoutPods() : Node(PodList::missing) {}
};

}  // namespace

TEST_CASE_FIXTURE(NodeWithoutSpecs,
                  "if only the cgroups of pods are known, their quotas stay, and the last line says so") {
  const Finished done = agent->ctl({"takeover", "koordlet"});
  INFO(done.output);
  CHECK(done.exit_status == 0);
  CHECK(done.output.ends_with(
      "\nthe specs of 2 pods are not known (state.source is cgroup): cpu.max of pods and containers not compared; "
      "expected kubelet, apiserver or file\n"));
  CHECK_FALSE(has(done.output, "no CPU limit"));
  CHECK(pods.read(pods.service, "cpu.max") == "30000 100000");
  CHECK(pods.read(pods.service_pod, "cpu.max") == "30000 100000");
  CHECK(pods.read(pods.service, "memory.min") != "4096");
  CHECK(pods.read(pods.besteffort, "cpu.max").starts_with("max"));
  CHECK(agent->stop() == 0);
}

TEST_CASE_FIXTURE(NodeWithoutPods,
                  "while the list of pods is missing, koordctl names the reason and sets only classes") {
  const Finished done = agent->ctl({"takeover", "koordlet"});
  INFO(done.output);
  CHECK(done.exit_status == 1);
  CHECK(has(done.output, "pods are not known yet ("));
  CHECK(has(done.output, "pods.yaml"));
  CHECK(has(done.output, "): only classes compared\n"));
  CHECK(pods.read(pods.service, "cpu.max") == "30000 100000");
  CHECK(pods.read(pods.besteffort, "cpu.max").starts_with("max"));
  const Finished why = agent->ctl({"why", "service"});
  INFO(why.output);
  CHECK(why.exit_status == 1);
  CHECK(has(why.output, "pods are not known yet: "));
  CHECK(has(why.output, "pods.yaml"));
  CHECK(agent->stop() == 0);
}
