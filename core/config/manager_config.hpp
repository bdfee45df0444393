// SPDX-License-Identifier: Apache-2.0
// The configuration of koord-manager, typed and read as the agent's (load.hpp), from a schema of its own. Immutable
// once loaded. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/config/config.hpp"

namespace koord::config {

struct ManagerConfig {
  struct Lease {
    std::string name_space;  // "" = $POD_NAMESPACE
    std::string name;
    Duration duration{};
    Duration renew{};
    Duration retry{};
  };
  struct Batch {
    Duration withdraw_window{};
    Duration grace{};
    std::uint64_t withdraw_percent = 0;  // smaller losses are not withdrawn at once
  };

  struct Serve {
    std::string address;  // host:port of the aggregated API, "" = off
    std::string certificate_file, key_file;
    std::string agent_user;  // "" = tokens of agents are not checked for a node
    std::string service;     // in the Lease's namespace, "" = the leader is not published
    Duration fill_time{};
    Duration review_cache{};
  };

  LogSettings log;
  std::string listen;     // host:port of /healthz, /readyz and /metrics, "" = off
  std::string advertise;  // host:port in the identity, "" = none
  ClusterSettings cluster;
  std::string slo_config_map;  // "namespace/name"
  Lease lease;
  Serve serve;
  Batch batch;
  GateMap feature_gates;
};

// As load() and parse() of load.hpp.
Result<ManagerConfig> load_manager(const std::string& path, const std::vector<std::string>& overrides = {});
Result<ManagerConfig> parse_manager(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& overrides = {});

// As reference_yaml() of reference.hpp.
std::string manager_reference_yaml();

}  // namespace koord::config
