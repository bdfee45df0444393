// SPDX-License-Identifier: Apache-2.0
// Tests the guarantees of TestCluster for tests. cluster/api_test.py and servers_test.py test the behaviour of its
// servers towards clients.
#include "test/support/test_cluster.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>

#include "core/base/file.hpp"
#include "core/http/client.hpp"

using namespace koord;
using namespace koord::test;

namespace {

http::ClientOptions as_pod(const TestCluster& cluster) {
  http::ClientOptions options;
  options.timeout = std::chrono::seconds(60);
  options.headers = {{"Authorization", "Bearer " + read_file(cluster.service_account() + "/token").value_or("")}};
  options.tls = http::TlsOptions{.ca_file = cluster.service_account() + "/ca.crt", .server_name = "127.0.0.1"};
  return options;
}

unsigned status_of(const TestCluster& cluster, std::uint16_t port, const std::string& target) {
  auto answer = http::get("127.0.0.1:" + std::to_string(port), target, as_pod(cluster));
  return answer ? answer->status : 0;
}

}  // namespace

TEST_CASE("a test cluster answers on both ports to the service account's token and ends with the object") {
  std::string folder;
  {
    TestCluster cluster;
    folder = cluster.folder();
    CHECK(status_of(cluster, cluster.api_port(), "/api/v1/nodes/test-node") == 200);
    CHECK(status_of(cluster, cluster.kubelet_port(), "/pods") == 200);
    CHECK(cluster.environment().at("KUBERNETES_SERVICE_PORT") == std::to_string(cluster.api_port()));
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("objects are put, read, removed, and waited for") {
  TestCluster cluster;
  cluster.put(R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"x": 1}})");
  REQUIRE(cluster.get("NodeSLO", "test-node"));
  CHECK(cluster.wait_for_object("NodeSLO", "test-node", R"({"pointer": "/spec/x", "equals": 1})").find("\"x\": 1") !=
        std::string::npos);
  cluster.remove("NodeSLO", "test-node");
  CHECK_FALSE(cluster.get("NodeSLO", "test-node"));
  CHECK_THROWS_WITH_AS(cluster.wait_for_object("NodeSLO", "test-node", "{}", std::chrono::seconds(0)),
                       doctest::Contains("not within 0 s"), std::runtime_error);
}

TEST_CASE("a fault lasts until it is cleared, and an unknown fault is an error that lists the known ones") {
  TestCluster cluster;
  cluster.fault("error", R"({"code": 500, "path": "/nodes/"})");
  CHECK(status_of(cluster, cluster.api_port(), "/api/v1/nodes/test-node") == 500);
  cluster.fault("down");
  CHECK(status_of(cluster, cluster.api_port(), "/api/v1/nodes/test-node") == 0);
  CHECK(status_of(cluster, cluster.kubelet_port(), "/pods") == 200);
  cluster.clear_faults();
  CHECK(status_of(cluster, cluster.api_port(), "/api/v1/nodes/test-node") == 200);
  CHECK_THROWS_WITH_AS(cluster.fault("downn"), doctest::Contains("expected one of down, hang"), std::runtime_error);
}

TEST_CASE("each request is in the log and can be waited for") {
  TestCluster cluster;
  status_of(cluster, cluster.api_port(), "/api/v1/pods?limit=1");
  const auto requests = cluster.wait_for_requests(R"({"verb": "list", "kind": "Pod", "answered": true})");
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].path == "/api/v1/pods?limit=1");
  CHECK(requests[0].token == 1);
  CHECK(requests[0].status == 200);
  CHECK(cluster.requests(R"({"server": "kubelet"})").empty());
}
