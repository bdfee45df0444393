// SPDX-License-Identifier: Apache-2.0
// Attribution of usage on this machine's kernel: to pods, their sandboxes, host applications and the system, through
// the whole agent.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;

namespace {

std::vector<std::string> plugins(std::initializer_list<const char*> names) {
  std::vector<std::string> folders;
  for (const char* name : names) folders.push_back(built(std::string("plugins/") + name));
  return folders;
}

// A kubelet's cgroups, made by the test, with one guaranteed pod of two containers.
struct Kubelet {
  RealCgroup top{"kubelet"}, kubepods{top, "kubepods"}, pod{kubepods, "podu1"}, app{pod, "app"}, pause{pod, "pause"};
};

// Returns an aggregate of a metric of the node or of one pod. A pod is selected by uid because a killed test may have
// left other pods.
double queried(const AgentProcess& agent, const char* metric, const std::string& aggregation, const std::string& window,
               const std::string& pod_uid = {}) {
  std::vector<std::string> command{"query", metric, "--agg", aggregation, "--window", window, "-o", "json"};
  if (!pod_uid.empty()) command.insert(command.end(), {"--label", "pod_uid=" + pod_uid});
  const std::string output = agent.ctl(command).output;
  const std::size_t at = output.find("\"" + aggregation + "\":");
  return at == std::string::npos ? -1 : std::strtod(output.c_str() + at + aggregation.size() + 3, nullptr);
}

}  // namespace

TEST_CASE("the CPU time of a pod is counted for the pod and not for the system") {
  Kubelet kubelet;
  kubelet.pod.limit_cpu(0.5);
  ChildProcess burner([&] {
    kubelet.app.add_process(::getpid());
    for (;;) asm volatile("");
  });
  AgentProcess agent("state: {source: cgroup, resyncPeriod: 1h}",
                     plugins({"advisor-node-resource", "advisor-pod-resource", "advisor-sys-resource"}));
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return queried(agent, "sys_cpu_usage", "count", "1m") >= 13; }, std::chrono::seconds(60)));
  const double node = queried(agent, "node_cpu_usage", "avg", "10s");
  const double pod = queried(agent, "pod_cpu_usage", "avg", "10s", "u1");
  const double system = queried(agent, "sys_cpu_usage", "avg", "10s");
  INFO("node ", node, " pod ", pod, " system ", system, "\n",
       agent.ctl({"query", "pod_cpu_usage", "--window", "10s"}).output);
  CHECK(pod > 0.3);
  // The values are sampled at different times, and other processes start and end.
  CHECK(std::fabs(node - pod - system) < 0.25);
  CHECK(queried(agent, "sys_memory_usage", "count", "1m") >= 1);
}

TEST_CASE("the sandbox of a pod from a list is measured as a separate container, POD") {
  Kubelet kubelet;
  TemporaryFolder folder;
  const std::string list = folder / "pods.yaml";
  REQUIRE(koord::write_file_atomically(list, R"(
items:
- metadata: {uid: u1, name: web, namespace: shop}
  status:
    phase: Running
    qosClass: Guaranteed
    containerStatuses: [{name: app, containerID: "containerd://app", state: {running: {}}}]
  spec: {containers: [{name: app}]}
)"));
  AgentProcess agent("state: {source: file, file: {pods: " + list + "}}", plugins({"advisor-pod-resource"}));
  REQUIRE(agent.start());
  const auto measured = [&](const char* name) {
    return find_metric(agent.metrics(), "koordetector_container_memory_current_bytes",
                       {"pod_name=\"web\"", std::string("container_name=\"") + name + "\""})
        .has_value();
  };
  CHECK(eventually([&] { return measured("app") && measured("POD"); }));
}

TEST_CASE("a host application of a NodeSLO file is measured while the cgroup tree lists the pods") {
  RealCgroup cgroup("app");
  TemporaryFolder folder;
  const std::string slo = folder / "slo.yaml";
  REQUIRE(koord::write_file_atomically(
      slo, "spec: {hostApplications: [{name: app, qos: LS, cgroupPath: {base: CgroupRoot, relativePath: " +
               cgroup.dir() + "}}]}\n"));
  AgentProcess agent("state: {source: cgroup, file: {nodeSLO: " + slo + "}}", plugins({"advisor-host-application"}));
  REQUIRE(agent.start());
  CHECK(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_host_application_memory_usage",
                       {"host_app_name=\"app\"", "qos=\"LS\""})
        .has_value();
  }));
}
