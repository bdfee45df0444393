// SPDX-License-Identifier: Apache-2.0
#include "crowded_node.hpp"

#include <unistd.h>

#include <algorithm>

#include "test/support/fake_nodes.hpp"
#include "test/support/fake_pods.hpp"

namespace koord::test {
namespace {

constexpr std::string_view kBestEffort = "cgroup/kubepods.slice/kubepods-besteffort.slice";
constexpr int kMemoryKib = CrowdedNode::kGiB << 20;

bool is_best_effort(const CrowdedPod& pod) { return pod.tier == "batch"; }

std::string uid_of(const std::string& pod) { return "uid-" + pod; }

// Returns the container id of the `number`th pod.
std::string container_id(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(64 - digits.size(), 'c') + digits;
}

std::string requests_of(const CrowdedPod& pod) {
  if (pod.tier.empty()) return R"({"cpu": "1", "memory": "1Gi"})";
  const std::string prefix = "kubernetes.io/" + pod.tier;
  return "{\"" + prefix + "-cpu\": \"2000\", \"" + prefix + "-memory\": \"2Gi\"}";
}

}  // namespace

std::vector<CrowdedPod> CrowdedNode::five_pods() {
  const std::string best_effort = R"("koordinator.sh/qosClass": "BE", "koordinator.sh/eviction-enabled": "true")";
  return {{.name = "closed",
           .tier = "batch",
           .priority = 5000,
           .labels = best_effort,
           .annotations = R"("koordinator.sh/eviction-policy": "[]")"},
          {.name = "low", .tier = "batch", .priority = 5100, .labels = best_effort, .used_cores = 8},
          {.name = "high", .tier = "batch", .priority = 5900, .labels = best_effort},
          {.name = "mid", .tier = "mid", .priority = 7500, .labels = R"("koordinator.sh/eviction-enabled": "true")"},
          {.name = "service", .priority = 9500}};
}

CrowdedNode::CrowdedNode(std::vector<CrowdedPod> pods) : pods_(std::move(pods)) {
  cluster.fault("graceful_deletion", R"({"on": true})");
  const std::string resources =
      "{\"cpu\": \"" + std::to_string(kCpus) + "\", \"memory\": \"" + std::to_string(kGiB) + "Gi\"}";
  cluster.merge("Node", "test-node",
                "{\"status\": {\"capacity\": " + resources + ", \"allocatable\": " + resources + "}}");
  set_slo("");
  for (const CrowdedPod& pod : pods_) cluster.put(object_of(pod));
  update_kubelet();
  lay_out(tree, two_sockets_with_threads());
  set_memory(50);
  let_run(0);
  tree.write("proc/pressure/memory",
             "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
}

std::string CrowdedNode::object_of(const CrowdedPod& pod) const {
  const bool ends = std::find(terminating_.begin(), terminating_.end(), pod.name) != terminating_.end();
  const std::string id = container_id(static_cast<std::size_t>(&pod - pods_.data()));
  const std::string requests = requests_of(pod);
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + pod.name +
         R"(", "namespace": "shop", "uid": ")" + uid_of(pod.name) + R"(", "labels": {"app": ")" + pod.name + "\"" +
         (pod.labels.empty() ? "" : ", ") + pod.labels + R"(}, "annotations": {)" + pod.annotations +
         (ends ? R"(}, "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30)" : "}") +
         R"(}, "spec": {"nodeName": "test-node", "priority": )" + std::to_string(pod.priority) +
         R"(, "containers": [{"name": "main", "image": "i", "resources": {"requests": )" + requests +
         R"(, "limits": )" + requests + R"(}}]}, "status": {"phase": "Running", "qosClass": ")" +
         (is_best_effort(pod) ? "BestEffort" : "Burstable") +
         R"(", "containerStatuses": [{"name": "main", "containerID": "containerd://)" + id +
         R"(", "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}}]}})";
}

void CrowdedNode::update_kubelet() {
  std::string list;
  for (const CrowdedPod& pod : pods_) list += (list.empty() ? "" : ",") + object_of(pod);
  cluster.set_pods("[" + list + "]");
}

void CrowdedNode::write_pods() {
  std::vector<FakePod> trees;
  for (const CrowdedPod& pod : pods_) {
    const std::string id = container_id(trees.size());
    const CgroupUse use{.cpu_us = static_cast<std::int64_t>(ran_seconds_ * pod.used_cores * 1e6),
                        .active_anon_pages = (pod.used_mib << 20) / ::sysconf(_SC_PAGESIZE)};
    trees.push_back({uid_of(pod.name),
                     is_best_effort(pod) ? cgroup::KubeQos::best_effort : cgroup::KubeQos::burstable,
                     {{id, use}}});
  }
  lay_out_pods(tree, PodLayout::v2_systemd, trees);
  tree.write(std::string(kBestEffort) + "/cpu.max", best_effort_max_);
}

void CrowdedNode::set_memory(int used_percent) {
  const int available = kMemoryKib / 100 * (100 - used_percent);
  const auto line = [](const char* key, int kib) {
    return std::string(key) + ":       " + std::to_string(kib) + " kB\n";
  };
  tree.write("proc/meminfo",
             line("MemTotal", kMemoryKib) + line("MemFree", available / 2) + line("MemAvailable", available));
}

void CrowdedNode::limit_best_effort(int milli) {
  best_effort_max_ = std::to_string(milli * 100) + " 100000\n";
  write_pods();
}

void CrowdedNode::set_allocatable(const std::string& resources) {
  cluster.merge("Node", "test-node",
                "{\"status\": {\"capacity\": " + resources + ", \"allocatable\": " + resources + "}}");
}

void CrowdedNode::set_slo(const std::string& fields) {
  cluster.put(
      R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE": {"enable": true)" +
      std::string(fields.empty() ? "" : ", ") + fields + "}}}");
}

void CrowdedNode::let_run(double node_cores) {
  const auto now = std::chrono::steady_clock::now();
  const double passed = ran_at_ ? std::chrono::duration<double>(now - *ran_at_).count() : 0;
  ran_at_ = now;
  ran_seconds_ += passed;
  node_cpu_seconds_ += passed * node_cores;
  const auto ticks = static_cast<std::int64_t>(node_cpu_seconds_ * static_cast<double>(::sysconf(_SC_CLK_TCK)));
  const std::string columns = " " + std::to_string(ticks) + " 0 0 0 0 0 0 0 0 0\n";
  tree.write("proc/stat", "cpu " + columns);
  write_pods();
}

void CrowdedNode::put_budget(const std::string& pod, int allowed) {
  cluster.put(R"({"kind": "PodDisruptionBudget", "metadata": {"name": "keep-)" + pod +
              R"(", "namespace": "shop"}, "spec": {"selector": {"matchLabels": {"app": ")" + pod +
              R"("}}}, "status": {"disruptionsAllowed": )" + std::to_string(allowed) + "}}");
}

void CrowdedNode::set_terminating(const std::string& pod) {
  terminating_.push_back(pod);
  update_kubelet();
}

void CrowdedNode::put_back(const std::string& uids) {
  terminating_.clear();
  for (const CrowdedPod& pod : pods_) {
    std::string object = object_of(pod);
    const std::string uid = "\"" + uid_of(pod.name);
    object.insert(object.find(uid) + uid.size(), uids);
    cluster.remove("Pod", pod.name, "shop");
    cluster.put(object);
  }
  update_kubelet();
}

void CrowdedNode::configure(const std::string& gates, const std::string& mode, const std::string& extra) {
  const std::string settings = "  settings:\n    qos-cpu-evict: {mode: " + mode +
                               ", config: {coolDownSeconds: 1, windowSeconds: 3}}\n" +
                               "    qos-memory-evict: {mode: " + mode + ", config: {coolDownSeconds: 1}}\n";
  const NodeRoots at = tree.roots();
  const std::string roots =
      "roots: {proc: \"" + at.proc + "\", sys: \"" + at.sys + "\", cgroup: \"" + at.cgroup + "\"}\n";
  const std::string where = "cluster: {kubeconfig: \"" + cluster.kubeconfig() +
                            "\"}\nstate: {source: kubelet, kubelet: {caFile: \"" + cluster.kubelet_ca() +
                            "\", timeout: 5s, syncPeriod: 1s}}\n";
  agent.emplace(
      settings + "featureGates: {" + gates + "}\n" + roots + where + "exporter: {koordletNames: true}\n" + extra,
      std::vector<std::string>{built("plugins/qos-cpu-evict"), built("plugins/qos-memory-evict"),
                               built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
                               built("plugins/advisor-be-resource")});
}

std::size_t CrowdedNode::asked() { return cluster.requests(R"({"verb": "create", "subresource": "eviction"})").size(); }

std::vector<std::string> CrowdedNode::going() {
  std::vector<std::string> names;
  for (const CrowdedPod& pod : pods_) {
    const std::optional<std::string> object = cluster.get("Pod", pod.name, "shop");
    if (!object || object->find("deletionTimestamp") != std::string::npos) names.push_back(pod.name);
  }
  return names;
}

double CrowdedNode::counted(const std::string& feature, const std::string& result) const {
  return find_metric(agent->metrics(), "koordetector_host_evictions_total",
                     {"feature=\"" + feature + "\"", "result=\"" + result + "\""})
      .value_or(0);
}

bool CrowdedNode::has_event(const std::string& about, const std::string& reason, const std::string& part) {
  const std::string list = cluster.command("list", R"({"kind": "Event"})");
  const std::string name = "\"" + about + ".";  // an event's name begins with its object's name
  for (std::size_t at = list.find(name); at != std::string::npos; at = list.find(name, at + 1)) {
    const std::string event = list.substr(at, list.find(name, at + 1) - at);
    if (event.find(reason) != std::string::npos && event.find(part) != std::string::npos) return true;
  }
  return false;
}

void CrowdedNode::wait_for_lists(int count) {
  const std::string lists = R"({"server": "kubelet", "path": "/pods")";
  const auto so_far = cluster.requests(lists + "}").size();
  cluster.wait_for_requests(lists + ", \"count\": " + std::to_string(so_far + static_cast<std::size_t>(count)) + "}");
}

}  // namespace koord::test
