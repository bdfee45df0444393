// SPDX-License-Identifier: Apache-2.0
// A node that reports to the test cluster's API server. The test provides samples, pods, inputs and the clock; the
// loop, the client and the server are real.
#pragma once

#include <boost/json.hpp>

#include "core/kube/client.hpp"
#include "core/state/hub.hpp"
#include "test/core/report/report_fixture.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

namespace koord::test {

// Returns one cluster for all tests of a program, without faults and objects of the last test.
inline TestCluster& fresh_cluster() {
  static TestCluster cluster;
  cluster.clear_faults();
  for (const char* kind : {"NodeMetric", "NodeResourceTopology", "Device"}) {
    if (cluster.get(kind, "test-node")) cluster.remove(kind, "test-node");
  }
  return cluster;
}

inline kube::ConnectionConfig config_of(const TestCluster& cluster) {
  auto found = kube::find_config(cluster.kubeconfig());
  REQUIRE_MESSAGE(found, found.error().message());
  return *found;
}

struct ReportingNode : LoopHere, ReportFixture {
  TestCluster& cluster = fresh_cluster();
  SystemClock real_clock;
  kube::Client client{loop, workers, real_clock, config_of(cluster), {.requests_per_second = 1000, .burst = 1000}};
  state::Hub hub;
  std::int64_t requests_before = -1;  // the index of the last request

  ReportingNode() {
    const auto requests = cluster.requests();
    if (!requests.empty()) requests_before = requests.back().index;
  }

  // Passes the current object as a watch reports it; "" if none exists.
  void hear(const char* kind) {
    hub.publish(
        {.objects = {{kind, std::make_shared<const std::string>(cluster.get(kind, "test-node").value_or(""))}}});
  }
  void publish_pods() {
    hub.publish({.pods = state.pods});
    hub.confirm(state::kPods, clock.now());
  }
  boost::json::value object(const char* kind) {
    const std::optional<std::string> text = cluster.get(kind, "test-node");
    REQUIRE(text);
    return boost::json::parse(*text);
  }
  std::vector<ClusterRequest> writes(const char* kind) {
    const std::string like = R"({"kind": ")" + std::string(kind) + R"(", "answered": true, "after": )" +
                             std::to_string(requests_before) + "}";
    std::vector<ClusterRequest> found = cluster.requests(like);
    std::erase_if(found, [](const ClusterRequest& request) {
      return request.verb != "update" && request.verb != "patch" && request.verb != "create";
    });
    return found;
  }
  void settle(const auto& reporter) {
    REQUIRE(until([&] { return !reporter.busy(); }));
  }
};

}  // namespace koord::test
