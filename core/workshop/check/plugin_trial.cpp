// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/plugin_trial.hpp"

#include <utility>

#include "core/load/grants.hpp"
#include "core/state/topology.hpp"

namespace koord::check {
namespace {

constexpr std::size_t kUsualPods = 3;

state::Node make_node() {
  return {.name = "stage",
          .labels = {{"kubernetes.io/hostname", "stage"}},
          .annotations = {},
          .capacity = {{"cpu", 4000}, {"memory", std::int64_t{8} << 30}},
          .allocatable = {{"cpu", 3800}, {"memory", std::int64_t{7} << 30}}};
}

state::Pod make_pod(std::size_t number) {
  const std::string digits = std::to_string(number);
  const std::vector<state::Resource> resources = {{"cpu", 100, 200}, {"memory", 64 << 20, 128 << 20}};
  state::Pod pod;
  pod.uid = "00000000-0000-0000-0000-" + std::string(12 - std::min<std::size_t>(digits.size(), 12), '0') + digits;
  pod.namespace_ = "default";
  pod.name = "pod-" + digits;
  pod.kube_qos = number % 2 ? state::KubeQos::best_effort : state::KubeQos::burstable;
  pod.koord_qos = number % 2 ? state::KoordQos::be : state::KoordQos::ls;
  pod.phase = state::Phase::running;
  pod.labels = {{"app", "stage"}};
  pod.cgroup_dir = "kubepods/burstable/pod" + pod.uid;
  pod.resources = resources;
  pod.containers = {{.id = "containerd://" + std::string(64 - digits.size(), '0') + digits,
                     .name = "main",
                     .state = state::ContainerState::running,
                     .cgroup_dir = pod.cgroup_dir + "/" + digits,
                     .resources = resources}};
  return pod;
}

}  // namespace

PluginTrial::PluginTrial(const NodeRoots& roots) : memory_host_(roots, clock_, "stage") {
  state::Update update;
  update.node = make_node();
  update.node_slo = "{}";
  update.standalone.emplace();
  if (auto topology = state::read_topology(roots)) update.topology = *std::move(topology);
  memory_host_.hub().publish(std::move(update));
  publish_pods(kUsualPods);
}

void PluginTrial::publish_pods(std::size_t count) {
  std::vector<state::Pod> pods;
  for (std::size_t i = 0; i < count; ++i) pods.push_back(make_pod(i + 1));
  publish_pods(std::move(pods));
}

void PluginTrial::publish_pods(std::vector<state::Pod> pods) {
  state::Update update;
  update.pods = std::move(pods);
  memory_host_.hub().publish(std::move(update));
}

WatchedHost& PluginTrial::add_host(const std::string& plugin_id, const std::string& kind,
                                   const std::string& config_json) {
  const std::vector<std::string> granted = load::granted_services(kind);
  hosts_.push_back(std::make_unique<WatchedHost>(
      memory_host_.make_context(plugin_id, std::set<std::string>(granted.begin(), granted.end()), config_json), faults_,
      seen_));
  return *hosts_.back();
}

}  // namespace koord::check
