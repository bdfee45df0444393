// SPDX-License-Identifier: Apache-2.0
// ManagerStatus: the leader and the replicas of koord-manager, from its Lease, its pods, and their /metrics and /readyz
// through the API server's proxy. All their answers are checked and bounded. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/kube/client.hpp"
#include "core/kube/leader.hpp"

namespace koord::ctl {

struct ManagerReplica {
  std::string pod, node, address;
  bool is_ready = false;
  std::optional<bool> leads;                   // from its metrics; nullopt: they are unknown
  std::map<std::string, std::uint64_t> nodes;  // number of nodes by freshness, without zeros
  std::uint64_t failed = 0;                    // number of failed writes
  std::uint64_t contested = 0;                 // number of contested objects
  std::vector<std::string> problems;
};

struct ManagerStatus {
  kube::LeasePlace place;
  kube::LeaseState lease;
  std::vector<ManagerReplica> replicas;  // sorted by pod
  std::string problem;                   // problem with the list of pods
  std::string no_leader;                 // why no replica leads; empty: a replica leads
};

// Answers GET of a path of the API server.
using ClusterGet = std::function<Result<kube::Reply>(const std::string& target)>;

// Fails if the Lease cannot be read. `metrics_port`: the port of the replicas' metrics. `now_ns`: Unix time of this
// machine, to judge whether the Lease has expired.
Result<ManagerStatus> read_manager_status(const kube::LeasePlace& place, std::uint16_t metrics_port,
                                          std::int64_t now_ns, const ClusterGet& get);

// Reads a replica's /metrics into `replica`. An error names the line.
Result<void> read_manager_metrics(std::string_view page, ManagerReplica& replica);

std::string render_manager_status(const ManagerStatus& status);
std::string manager_status_json(const ManagerStatus& status);

}  // namespace koord::ctl
