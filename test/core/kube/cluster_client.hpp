// SPDX-License-Identifier: Apache-2.0
// A client of the test cluster's API server, on a loop that the test runs.
#pragma once

#include <doctest/doctest.h>

#include "core/base/clock.hpp"
#include "core/kube/client.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

namespace koord::test {

// Returns one cluster for all tests of a program.
inline TestCluster& shared_cluster() {
  static TestCluster cluster;
  return cluster;
}

inline kube::ConnectionConfig shared_cluster_config() {
  auto found = kube::find_config(shared_cluster().kubeconfig());
  REQUIRE_MESSAGE(found, found.error().message());
  return *found;
}

struct ClusterClient : LoopHere {
  ClusterClient() { cluster.clear_faults(); }

  TestCluster& cluster = shared_cluster();
  SystemClock clock;
  kube::Client client{loop, workers, clock, shared_cluster_config(), {.requests_per_second = 1000, .burst = 1000}};
};

}  // namespace koord::test
