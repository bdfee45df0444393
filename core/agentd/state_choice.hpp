// SPDX-License-Identifier: Apache-2.0
// Where the agent learns pods, node and NodeSLO from, of its configuration and of what is there. Pure. [any thread]
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
  std::optional<kube::ConnectionConfig> cluster;  // of the API server; with kubelet and apiserver alone, and not always
  std::string no_cluster;                         // why it is not there
};

// `found`: what kube::find_config() says. auto: pods from a file when one is configured; else the cluster that we are
// in or that a kubeconfig names; else the cgroup tree.
StateChoice choose_state(const config::Config& config, const Result<kube::ConnectionConfig>& found);

// Returns the time within which the source of this part confirms it again, if it answers.
Duration confirm_period(const config::StateSettings& settings, PodSource pods, state::Part part);

// The address of the kubelet.
struct KubeletPlace {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const KubeletPlace&) const = default;
};
// Returns the configured place, else that of the Node, else `host_ip`, which the pod's environment may name, and the
// default kubelet port; nullopt: unknown yet.
std::optional<KubeletPlace> kubelet_place(const config::StateSettings::Kubelet& settings, const state::Node& node,
                                          const char* host_ip);

}  // namespace koord::agentd
