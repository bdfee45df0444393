// SPDX-License-Identifier: Apache-2.0
// An informer of the real client-go, which watches through the aggregator during failovers of koord-manager. Skipped
// unless KOORD_INFORMER names the program.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"
#include "test/e2e/manager_cluster.hpp"
#include "test/informer/informer_process.hpp"

using namespace koord;
using namespace koord::test;

namespace {

std::vector<std::string> names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("node-" + std::to_string(100 + i));
  return names;
}

// Returns the objects that the API lists, in the informer's output format.
std::string listed(const ManagerCluster& cluster) {
  const Answer answer = cluster.ask({"-H", ManagerCluster::token_of("test-node")}, kNodeMetricPath);
  const std::size_t body = answer.text.find("\r\n\r\n");
  if (answer.status != 200 || body == answer.text.npos) return "status " + std::to_string(answer.status);
  const auto list = read_json(answer.text.substr(body + 4)).value();
  std::vector<std::string> lines;
  for (const auto& item : json_list(list, "items")) {
    const auto& metadata = json_mapping(item, "metadata");
    const auto& usage = json_mapping(json_mapping(json_mapping(item, "status"), "nodeMetric"), "nodeUsage");
    lines.push_back("= " + json_text(metadata, "name") + " " + json_text(metadata, "resourceVersion") + " " +
                    json_text(json_mapping(usage, "resources"), "cpu") + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

TEST_CASE("an informer of client-go has the reported objects after three failovers and a restart of both replicas") {
  const std::string program = informer_program();
  if (program.empty()) return;
  ManagerCluster cluster(names(8));
  std::unique_ptr<Replica> leader = cluster.start("a"), standby;
  REQUIRE(eventually([&] { return leader->leads(); }));
  cluster.wait_until_available();
  std::optional<Reporter> reporter(cluster);
  InformerProcess informer(
      program, {"https://127.0.0.1:" + std::to_string(cluster.cluster.api_port()),
                cluster.cluster.service_account() + "/ca.crt", cluster.cluster.service_account() + "/token"});
  REQUIRE(eventually([&] { return informer.has("SYNCED"); }));
  for (const char* next : {"b", "c", "d"}) {
    standby = cluster.start(next, true);
    REQUIRE(eventually([&] { return contains(standby->log(), "serves /healthz"); }));
    leader->process().signal(SIGKILL);
    REQUIRE(eventually([&] { return standby->leads(); }));
    leader = std::move(standby);
    const std::string before = informer.objects();
    REQUIRE(eventually([&] { return informer.objects() != before; }));
  }
  standby = cluster.start("e");
  leader->process().signal(SIGKILL);
  standby->process().signal(SIGKILL);
  leader = cluster.start("f");
  REQUIRE(eventually([&] { return leader->leads(); }));
  REQUIRE(eventually([&] { return listed(cluster).starts_with("= node-100"); }));
  reporter.reset();
  CHECK(eventually([&] { return informer.objects() == listed(cluster); }));
  const std::string all = listed(cluster);
  CHECK(std::count(all.begin(), all.end(), '\n') == 9);
  CHECK(informer.output().find("DELETE") == std::string::npos);
}
