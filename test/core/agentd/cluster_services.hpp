// SPDX-License-Identifier: Apache-2.0
// ClusterServices: the services of an agent on a fake node, with the test cluster's API server. The clock of the
// services does not move, but the clock of the client does.
#pragma once

#include "test/core/agentd/node_services.hpp"
#include "test/core/kube/cluster_client.hpp"

namespace koord::agentd {

struct ClusterServices : NodeServices {
  explicit ClusterServices(Plugins plugins = [] { return std::vector<host::PluginStatus>(); })
      : NodeServices({}, plugins) {
    cluster.clear_faults();
    api = &client;
  }

  // Runs the loop until the condition holds or a long time limit ends. Returns whether it held.
  bool until(const std::function<bool()>& condition) {
    bool held = false;
    const auto look = loop.every(std::chrono::milliseconds(1), [&] {
      if (!condition()) return;
      held = true;
      loop.stop();
    });
    const auto end = loop.after(std::chrono::seconds(60), [this] { loop.stop(); });
    loop.run();
    return held;
  }

  test::TestCluster& cluster = test::shared_cluster();
  SystemClock wall;
  kube::Client client{loop, workers, wall, test::shared_cluster_config(), {.requests_per_second = 1000, .burst = 1000}};
};

}  // namespace koord::agentd
