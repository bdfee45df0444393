// SPDX-License-Identifier: Apache-2.0
#include "daemonset_pod.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "test/support/fake_nodes.hpp"
#include "test/support/fake_pods.hpp"

namespace koord::test {
namespace {

constexpr std::string_view kAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

std::string configured(const FakeNode& node, const DaemonSetPod::Options& options) {
  const NodeRoots roots = node.roots();
  return "featureGates: {" + options.gates + "}\nroots: {proc: \"" + roots.proc + "\", sys: \"" + roots.sys +
         "\", cgroup: \"" + roots.cgroup + "\"}\nstate: {source: auto, kubelet: {" + options.kubelet + "}}\n" +
         options.extra;
}

// The words of `sh -c`. Its first argument is the account's folder, and the agent's command line follows.
std::vector<std::string> in_a_pod(const TestCluster& cluster) {
  const std::string account(kAccount);
  std::vector<std::string> words{"unshare",
                                 "--mount",
                                 "--propagation",
                                 "private",
                                 "sh",
                                 "-c",
                                 "mount -t tmpfs koord-test-run /var/run && mkdir -p " + account +
                                     " && mount --bind \"$0\" " + account + " && exec \"$@\"",
                                 cluster.service_account(),
                                 "env",
                                 "-u",
                                 "KUBECONFIG"};
  for (const auto& [name, value] : cluster.environment()) words.push_back(name + "=" + value);
  return words;
}

cgroup::KubeQos qos_of(const PodSpec& pod) {
  if (pod.qos == "Guaranteed") return cgroup::KubeQos::guaranteed;
  return pod.qos == "BestEffort" ? cgroup::KubeQos::best_effort : cgroup::KubeQos::burstable;
}

void lay_out_cgroups(FakeNode& node, const std::vector<PodSpec>& pods) {
  std::vector<FakePod> trees;
  for (const PodSpec& pod : pods)
    trees.push_back({pod.uid, qos_of(pod), {{std::string(64, pod.digit), {.active_anon_pages = pod.anon_pages}}}});
  lay_out_pods(node, PodLayout::v2_systemd, trees);
}

}  // namespace

std::string as_json(const PodSpec& pod) {
  const std::string id(64, pod.digit);
  return R"({"metadata": {"name": ")" + pod.name + R"(", "namespace": "shop", "uid": ")" + pod.uid +
         R"(", "labels": )" + pod.labels +
         R"(, "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"kubernetes.io/config.source": "api"}},
  "spec": {"nodeName": "test-node", "containers": [{"name": "main", "image": "registry.example/main:1",
    "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}}}]},
  "status": {"phase": "Running", "qosClass": ")" +
         pod.qos + R"(", "startTime": "2026-01-01T00:00:00Z",
    "containerStatuses": [{"name": "main", "containerID": "containerd://)" +
         id + R"(", "ready": true, "restartCount": 0,
      "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}}]}})";
}

double bytes_of(const PodSpec& pod) { return static_cast<double>(pod.anon_pages * ::sysconf(_SC_PAGESIZE)); }

DaemonSetPod::DaemonSetPod() : DaemonSetPod(Options()) {}

DaemonSetPod::DaemonSetPod(const Options& options)
    : agent(configured(node, options),
            {built("plugins/advisor-pod-resource"), built("test/e2e/plugins"), built("test/e2e/plugins/own")}) {
  lay_out(node, two_sockets_with_threads());
  run_cgroups({});
  agent.run_by(in_a_pod(cluster));
}

void DaemonSetPod::run_pods(const std::vector<PodSpec>& pods) {
  run_cgroups(pods);
  std::string list = "[";
  for (const PodSpec& pod : pods) list += (list.size() > 1 ? "," : "") + as_json(pod);
  cluster.set_pods(list + "]");
}

void DaemonSetPod::run_cgroups(const std::vector<PodSpec>& pods) {
  // A pod runs if its directory exists.
  for (const PodSpec& old : laid_out_) {
    const bool stays = std::any_of(pods.begin(), pods.end(), [&](const PodSpec& pod) { return pod.uid == old.uid; });
    const cgroup::KubeRoot root = cgroup::default_kube_root(cgroup::Driver::systemd);
    if (!stays) node.remove("cgroup/" + cgroup::pod_dir(root, qos_of(old), old.uid));
  }
  laid_out_ = pods;
  lay_out_cgroups(node, pods);
}

double DaemonSetPod::seen(std::string_view metric, const std::vector<std::string>& labels) const {
  return find_metric(agent.metrics(), "koordetector_" + std::string(metric), labels).value_or(-1);
}

std::size_t DaemonSetPod::writes(std::string_view kind) {
  const std::vector<ClusterRequest> requests =
      cluster.requests("{\"server\": \"api\", \"kind\": \"" + std::string(kind) + "\"}");
  return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [](const ClusterRequest& request) {
    return request.verb == "create" || request.verb == "update" || request.verb == "patch";
  }));
}

double DaemonSetPod::memory_of(std::string_view pod) const {
  return find_metric(agent.metrics(), "koordetector_pod_memory_usage", {"pod_name=\"" + std::string(pod) + "\""})
      .value_or(-1);
}

}  // namespace koord::test
