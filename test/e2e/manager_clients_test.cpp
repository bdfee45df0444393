// SPDX-License-Identifier: Apache-2.0
// Clients of koord-manager's aggregated API that come with many tokens, or before it knows them.
#include <map>

#include "test/e2e/manager_cluster.hpp"

using namespace koord;
using namespace koord::test;

TEST_CASE("a thousand tokens of one client cost some reviews, and agents and new clients get in meanwhile") {
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
  // Ten, and one in each second of the flood; and the two above.
  const auto reviews = cluster.cluster.requests(R"({"path":"/tokenreviews","after":)" + std::to_string(before) + "}");
  CHECK(reviews.size() < 200);
  CHECK(cluster.metric(*replica, "koord_manager_serve_refused_total", {"reason=\"limited\""}) == answers["429"]);
  CHECK(contains(line_with(replica->log(), "sends tokens that the API server does not accept"), "'127.0.0.1'"));
}
