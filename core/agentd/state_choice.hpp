// SPDX-License-Identifier: Apache-2.0
// Chooses the sources of pods, node and NodeSLO by the configuration and by what this node has. Pure. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/kube/connection_config.hpp"
#include "core/state/snapshot.hpp"

namespace koord::agentd {

enum class PodSource : std::uint8_t { kubelet, apiserver, file, cgroup };
std::string_view name_of(PodSource source);  // "kubelet"

struct StateChoice {
  PodSource pods = PodSource::cgroup;
  // The API server; may be set only with the sources kubelet and apiserver.
  std::optional<kube::ConnectionConfig> cluster;
  std::string no_cluster;  // why the cluster is not used
};

// `found`: the result of kube::find_config(). With the source "auto", pods come from the first of these that exists: a
// configured file, the cluster that the agent runs in or that a kubeconfig names, the cgroup tree.
StateChoice choose_state(const config::Config& config, const Result<kube::ConnectionConfig>& found);

// Returns the time within which the source of this part confirms it again, if it answers.
Duration confirm_period(const config::StateSettings& settings, PodSource pods, state::Part part);

// The address of the kubelet.
struct KubeletPlace {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const KubeletPlace&) const = default;
};
// Returns the host and port of the kubelet. The host is the configured one, else the address in the Node, else
// `host_ip`, which an environment variable of the pod may set. The port is the configured one, else the Node's, else
// the default. Returns nullopt if no host is known yet.
std::optional<KubeletPlace> kubelet_place(const config::StateSettings::Kubelet& settings, const state::Node& node,
                                          const char* host_ip);

}  // namespace koord::agentd
