// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/state_choice.hpp"

#include <algorithm>

namespace koord::agentd {
namespace {

constexpr std::uint16_t kKubeletPort = 10250;
// The period of an API server's bookmarks in a watch without other events.
constexpr Duration kBookmarks = std::chrono::minutes(1);

PodSource pods_of(const config::Config& config, bool cluster) {
  switch (config.state.source) {
    case config::StateSource::kubelet:
      return PodSource::kubelet;
    case config::StateSource::apiserver:
      return PodSource::apiserver;
    case config::StateSource::file:
      return PodSource::file;
    case config::StateSource::cgroup:
      return PodSource::cgroup;
    case config::StateSource::automatic:
      break;
  }
  if (!config.state.file.pods.empty()) return PodSource::file;
  // A configured kubeconfig means that pods come from the cluster, even if the file is invalid.
  return cluster || !config.cluster.kubeconfig.empty() ? PodSource::kubelet : PodSource::cgroup;
}

std::string internal_address(const state::Node& node) {
  const auto found = std::find_if(node.addresses.begin(), node.addresses.end(),
                                  [](const state::NodeAddress& address) { return address.type == "InternalIP"; });
  return found == node.addresses.end() ? "" : found->address;
}

}  // namespace

std::string_view name_of(PodSource source) {
  switch (source) {
    case PodSource::kubelet:
      return "kubelet";
    case PodSource::apiserver:
      return "apiserver";
    case PodSource::file:
      return "file";
    case PodSource::cgroup:
      break;
  }
  return "cgroup";
}

Duration confirm_period(const config::StateSettings& settings, PodSource pods, state::Part part) {
  if (part == state::kPods && pods == PodSource::kubelet) return settings.kubelet.sync_period;
  const bool is_of_api_server = (part == state::kPods && pods == PodSource::apiserver) ||
                                (part == state::kNode && settings.file.node.empty()) ||
                                (part == state::kNodeSlo && settings.file.node_slo.empty());
  return is_of_api_server ? kBookmarks : settings.resync_period;
}

StateChoice choose_state(const config::Config& config, const Result<kube::ConnectionConfig>& found) {
  StateChoice choice;
  choice.pods = pods_of(config, found.has_value());
  const bool in_cluster = choice.pods == PodSource::kubelet || choice.pods == PodSource::apiserver;
  if (!in_cluster)
    choice.no_cluster =
        "pods are learnt from " + std::string(choice.pods == PodSource::file ? "a file" : "the cgroup tree");
  else if (found)
    choice.cluster = *found;
  else
    choice.no_cluster = found.error().message();
  return choice;
}

std::optional<KubeletPlace> kubelet_place(const config::StateSettings::Kubelet& settings, const state::Node& node,
                                          const char* host_ip) {
  KubeletPlace place{settings.address, static_cast<std::uint16_t>(settings.port)};
  if (place.host.empty()) place.host = internal_address(node);
  if (place.host.empty() && host_ip != nullptr) place.host = host_ip;
  if (place.host.empty()) return std::nullopt;
  if (place.port == 0) place.port = static_cast<std::uint16_t>(node.kubelet_port);
  if (place.port == 0) place.port = kKubeletPort;
  return place;
}

}  // namespace koord::agentd
