// SPDX-License-Identifier: Apache-2.0
// Clients of koord-manager's aggregated API that use many tokens, or connect before it can authenticate them.
#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <thread>

#include "core/kube/client.hpp"
#include "test/e2e/manager_cluster.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/service_account_token.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// A client with the front proxy's or a different certificate, which keeps one connection to a replica.
struct FrontProxyClient : LoopHere {
  // `certificate`: the path of its files, without the endings.
  FrontProxyClient(const ManagerCluster& cluster, const Replica& replica, const std::string& certificate)
      : client(loop, workers, clock, config_of(cluster, replica, certificate), {.kept_connections = 1}) {}

  static kube::ConnectionConfig config_of(const ManagerCluster& cluster, const Replica& replica,
                                          const std::string& certificate) {
    kube::ConnectionConfig config;
    config.host = "127.0.0.1";
    config.port = static_cast<std::uint16_t>(std::stoul(replica.api_port()));
    config.server_name = "koord-manager.koordetector.svc";
    config.ca.file = cluster.certificates().pem("ca");
    config.certificate.file = certificate + ".pem";
    config.key.file = certificate + ".key";
    return config;
  }
  unsigned ask() {
    kube::Call call{.target = "/apis/metrics.koordetector.sh/v1alpha1",
                    .headers = {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}}};
    std::optional<unsigned> status;
    const auto pending = client.send(std::move(call), [&](const Result<kube::Reply>& reply) {
      CHECK_MESSAGE(reply, reply.error().message());
      status = reply ? reply->status : 0;
    });
    REQUIRE(until([&] { return status.has_value(); }));
    return *status;
  }

  SystemClock clock;
  kube::Client client;
};

// Returns a ConfigMap with one value replaced by the content of a file.
std::string replaced(const std::string& config_map, const std::string& key, const std::string& file) {
  boost::json::value object = boost::json::parse(config_map);
  object.at("data").as_object()[key] = read_file(file).value();
  return boost::json::serialize(object);
}

}  // namespace

TEST_CASE("a thousand tokens of one client cause only some reviews, and agents and new clients are served meanwhile") {
  ManagerCluster cluster({"node-1", "node-2"});
  const auto replica = cluster.start("a");
  REQUIRE(eventually([&] { return replica->leads(); }));
  cluster.wait_until_available();
  const auto report = [&](const std::string& node, const std::string& address) {
    std::vector<std::string> options = ManagerCluster::report_of(node, 100);
    options.insert(options.end(), {"--interface", address});
    return cluster.ask(*replica, options, kNodeMetricPath + "/" + node + "/status").status;
  };
  REQUIRE(report("node-1", "127.0.0.1") == 201);
  const std::int64_t before = cluster.cluster.requests().back().index;
  const auto flood = cluster.flood(*replica, 1000);
  std::map<std::string, int> answers;
  for (const std::string& status : flood) ++answers[status];
  CHECK(answers["401"] + answers["429"] == 1000);
  CHECK(answers["429"] > 800);
  CHECK(report("node-1", "127.0.0.1") == 200);
  CHECK(report("node-2", "127.0.0.2") == 201);
  // Ten, one per second of the flood, and the two above.
  const auto reviews = cluster.cluster.requests(R"({"path":"/tokenreviews","after":)" + std::to_string(before) + "}");
  CHECK(reviews.size() < 200);
  CHECK(cluster.metric(*replica, "koord_manager_serve_refused_total", {"reason=\"limited\""}) == answers["429"]);
  CHECK(contains(line_with(replica->log(), "too many tokens of it, or of all clients, were not accepted"),
                 "'127.0.0.1'"));
}

TEST_CASE("an agent is served with a renewed token while its address floods the server with tokens") {
  ManagerCluster cluster({"node-1"});
  const auto replica = cluster.start("a");
  REQUIRE(eventually([&] { return replica->leads(); }));
  const auto report = [&](int token) {
    const std::string text = service_account_token(kAgentUser, "node-1", token);
    cluster.cluster.command("set_token", R"({"token":")" + text + R"(","username":")" + kAgentUser +
                                             R"(","extra":{"authentication.kubernetes.io/node-name":["node-1"]}})");
    std::vector<std::string> options = ManagerCluster::report_of("node-1", 100 + token);
    std::replace(options.begin(), options.end(), ManagerCluster::token_of("node-1"), "Authorization: Bearer " + text);
    return cluster.ask(*replica, options, kNodeMetricPath + "/node-1/status").status;
  };
  REQUIRE(report(1) == 201);
  const std::jthread flood([&](const std::stop_token& stops) {
    while (!stops.stop_requested()) cluster.flood(*replica, 1000);
  });
  CHECK(eventually([&] {
    return cluster.metric(*replica, "koord_manager_serve_refused_total", {"reason=\"limited\""}).value_or(0) > 200;
  }));
  for (int token = 2; token < 5; ++token) CHECK(report(token) == 200);
}

TEST_CASE("a client with fifty requests at once, each about another object, is never refused") {
  ManagerCluster cluster;
  const auto replica = cluster.start("a");
  REQUIRE(eventually([&] { return replica->leads(); }));
  const std::vector<std::string> report = ManagerCluster::report_of("test-node", 100);
  REQUIRE(cluster.ask(*replica, report, kNodeMetricPath + "/test-node/status").status == 201);
  REQUIRE(eventually([&] { return cluster.metric(*replica, "koord_manager_serve_reading") == 1; }));
  const std::vector<std::string> statuses = cluster.ask_at_once(*replica, 50, [](int number) {
    return ManagerCluster::Request{kNodeMetricPath + "/missing-" + std::to_string(number),
                                   ManagerCluster::token_of("test-node")};
  });
  std::map<std::string, int> answers;
  for (const std::string& status : statuses) ++answers[status];
  CHECK(answers == std::map<std::string, int>{{"404", 50}});
}

TEST_CASE("a front proxy is accepted on its old connection when its settings appear, and when they change") {
  ManagerCluster cluster;
  const std::string settings = *cluster.cluster.get("ConfigMap", "extension-apiserver-authentication", "kube-system");
  cluster.cluster.fault("hang", R"({"kind":"ConfigMap","path":"/kube-system/"})");
  const auto replica = cluster.start("a");
  REQUIRE(eventually([&] { return replica->leads(); }));
  FrontProxyClient proxy(cluster, *replica, cluster.cluster.folder() + "/pki/front-proxy-client");
  FrontProxyClient other(cluster, *replica, cluster.certificates().path("forged"));
  CHECK(proxy.ask() == 503);
  CHECK(other.ask() == 503);
  cluster.cluster.clear_faults();
  REQUIRE(eventually([&] { return proxy.ask() == 200; }));
  CHECK(proxy.client.use().connections == 1);
  CHECK(other.ask() == 401);
  cluster.cluster.put(replaced(settings, "requestheader-client-ca-file", cluster.certificates().pem("other-ca")));
  REQUIRE(eventually([&] { return other.ask() == 200; }));
  CHECK(proxy.ask() == 401);
}
