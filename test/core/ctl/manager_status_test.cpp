// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/manager_status.hpp"

#include <doctest/doctest.h>

#include <map>

#include "core/base/timestamp.hpp"

using namespace koord;
using namespace koord::ctl;

namespace {

const kube::LeasePlace kPlace{"ns", "koord-manager"};
const std::string kLease = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/koord-manager";
const std::string kPods = "/api/v1/namespaces/ns/pods?labelSelector=app.kubernetes.io%2Fname%3Dkoord-manager";
const std::string kProxy = "/api/v1/namespaces/ns/pods/";

const std::string kPage = R"(# HELP koord_manager_leader Whether this replica leads.
# TYPE koord_manager_leader gauge
koord_manager_leader 1
koord_manager_watch_current{kind="Node"} 1
koord_manager_watch_current{kind="Pod"} 0
koord_manager_settings_rejected 2
koord_manager_writes_total{kind="NodeSLO",result="failed"} 3
koord_manager_writes_total{kind="NodeSLO",result="created"} 40
koord_manager_batch_changes_total{change="failed"} 4
koord_manager_contested{kind="NodeSLO"} 1
koord_manager_nodes{freshness="fresh"} 4990
koord_manager_nodes{freshness="stale"} 7
koord_manager_nodes{freshness="gone"} 0
)";

std::string pods_of(std::initializer_list<const char*> names) {
  std::string items;
  for (const char* name : names)
    items +=
        (items.empty() ? "" : ",") + std::string(R"({"metadata":{"name":")") + name +
        R"("},"spec":{"nodeName":"n1"},"status":{"podIP":"10.0.0.7","conditions":[{"type":"Ready","status":"True"}]}})";
  return R"({"items":[)" + items + "]}";
}

// Answers by path; other paths return 404.
struct FakeCluster {
  std::map<std::string, kube::Reply> answers = {
      {kLease,
       {.status = 200,
        .body =
            R"({"spec":{"holderIdentity":"10.0.0.7:8443/koord-manager-a/7f","leaseTransitions":3,"leaseDurationSeconds":6,)"
            R"("acquireTime":"2026-01-02T03:04:05.000000Z","renewTime":"2026-01-02T03:14:06.000000Z"}})"}}};

  std::int64_t now = *parse_timestamp("2026-01-02T03:14:11Z");  // within the Lease

  void pods(std::initializer_list<const char*> names) { answers[kPods] = {.status = 200, .body = pods_of(names)}; }
  void page(const std::string& pod, std::string text, unsigned ready = 200, std::string readiness = "ok") {
    answers[kProxy + pod + ":9320/proxy/metrics"] = {.status = 200, .body = std::move(text)};
    answers[kProxy + pod + ":9320/proxy/readyz"] = {.status = ready, .body = std::move(readiness)};
  }
  Result<ManagerStatus> status() const {
    return read_manager_status(kPlace, 9320, now, [this](const std::string& target) -> Result<kube::Reply> {
      const auto found = answers.find(target);
      return found == answers.end() ? kube::Reply{.status = 404, .body = "nothing here\nand more"} : found->second;
    });
  }
  std::string table() const {
    const Result<ManagerStatus> found = status();
    REQUIRE_MESSAGE(found, found.error().message());
    return render_manager_status(*found);
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(FakeCluster, "koordctl manager status names the leader, its address and since when it leads") {
  pods({});
  const std::string text = table();
  for (const char* part : {"koord-manager-a", "10.0.0.7:8443", "2026-01-02T03:04:05", "2026-01-02T03:14:06"}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
}

TEST_CASE_FIXTURE(FakeCluster, "an expired Lease and one without a holder have no leader") {
  pods({});
  CHECK(status()->no_leader == "");
  now += 120'000'000'000;
  CHECK(status()->no_leader == "the Lease expired 119 s ago, by the clock of this machine");
  CHECK(has(manager_status_json(*status()), R"("noLeader":"the Lease expired 119 s ago)"));
  answers[kLease] = {.status = 200, .body = "{}"};
  CHECK(status()->no_leader == "the Lease has no holder");
}

TEST_CASE_FIXTURE(FakeCluster, "without pods of koord-manager it says which label they need") {
  pods({});
  CHECK(has(table(), "namespace 'ns' has no pods with the label app.kubernetes.io/name=koord-manager"));
}

TEST_CASE_FIXTURE(FakeCluster, "of each replica it shows nodes by freshness, failed writes and problems") {
  pods({"koord-manager-b", "koord-manager-a"});
  page("koord-manager-a", kPage, 503, "not known yet: Pod (403 Forbidden)\nsecond line");
  page("koord-manager-b", "koord_manager_leader 0\n");
  const Result<ManagerStatus> found = status();
  REQUIRE(found);
  REQUIRE(found->replicas.size() == 2);
  const ManagerReplica& leader = found->replicas[0];
  CHECK(leader.pod == "koord-manager-a");
  CHECK(leader.leads == true);
  CHECK(leader.nodes == std::map<std::string, std::uint64_t>{{"fresh", 4990}, {"stale", 7}});
  CHECK(leader.failed == 7);
  CHECK(leader.contested == 1);
  CHECK(leader.problems ==
        std::vector<std::string>{"Pod is not up to date", "2 settings rejected", "not known yet: Pod (403 Forbidden)"});
  CHECK(found->replicas[1].leads == false);
  const std::string text = table();
  CHECK(has(text, "4990"));
  CHECK(has(text, "n1"));
  CHECK(has(manager_status_json(*found), R"("nodes":{"fresh":4990,"stale":7})"));
}

TEST_CASE_FIXTURE(FakeCluster, "a replica that does not answer, or not with its metrics, is shown with the reason") {
  pods({"koord-manager-a", "koord-manager-b", "koord-manager-c"});
  page("koord-manager-b", "<html>sign in</html>");
  page("koord-manager-c", "up 1\n");
  const Result<ManagerStatus> found = status();
  REQUIRE(found);
  CHECK(has(found->replicas[0].problems.at(0), "no metrics: 404"));
  CHECK(has(found->replicas[1].problems.at(0), "no metrics: "));
  CHECK(has(found->replicas[2].problems.at(0), "no metrics: the page has no koord_manager_leader"));
  CHECK(has(table(), "?"));
  CHECK_FALSE(has(table(), " 0 "));  // counts are unknown, too
}

TEST_CASE_FIXTURE(FakeCluster, "without the right to list pods the leader is shown, and the reason for the rest") {
  answers[kPods] = {.status = 403, .body = R"({"kind":"Status","message":"pods is forbidden","reason":"Forbidden"})"};
  const std::string text = table();
  CHECK(has(text, "koord-manager-a"));
  CHECK(has(text, "the replicas are unknown: 403 Forbidden: pods is forbidden"));
}

TEST_CASE_FIXTURE(FakeCluster,
                  "a missing or invalid Lease is an error that names it; a Lease without a holder is valid") {
  answers[kLease] = {.status = 200, .body = "{}"};
  pods({});
  CHECK(has(table(), "none"));
  answers[kLease] = {.status = 200, .body = "[]"};
  CHECK_FALSE(status());
  answers.erase(kLease);
  const auto missing = status();
  REQUIRE_FALSE(missing);
  CHECK(has(missing.error().text, "the Lease 'ns/koord-manager': 404"));
}

TEST_CASE_FIXTURE(FakeCluster, "texts of a hostile replica do not reach the terminal as they are") {
  pods({"koord-manager-a"});
  page(
      "koord-manager-a",
      "koord_manager_leader 1\nkoord_manager_watch_current{kind=\"\x1b[2J\"} 0\nkoord_manager_nodes{freshness=\"\x1b[2J\"} 5\nkoord_manager_nodes{freshness=\"fresh\"} 1e300\n",
      503, "\x1b]0;owned\x07");
  CHECK_FALSE(has(table(), "\x1b"));
  CHECK(status()->replicas[0].nodes.empty());
}

TEST_CASE("settings that the leader rejects or ignores are named, those of another replica counted") {
  FakeCluster cluster;
  cluster.pods({"koord-manager-a", "koord-manager-b"});
  const std::string page = "koord_manager_settings_ignored{reason=\"unknown\"} 1\n"
                           "koord_manager_settings_ignored{reason=\"unsupported\"} 2\n";
  const std::string line = "ConfigMap ns/slo-controller-config: resource-treshold-config: unknown, ignored";
  cluster.page("koord-manager-a", "koord_manager_leader 1\n" + page, 200, "ok\nNode a: other\n" + line + "\n");
  cluster.page("koord-manager-b", "koord_manager_leader 0\n" + page, 200, "ok\n" + line + "\n");
  const auto status = cluster.status();
  REQUIRE(status);
  CHECK(status->replicas[0].problems ==
        std::vector<std::string>{"1 settings unknown", "2 settings not supported", line});
  CHECK(status->replicas[1].problems == std::vector<std::string>{"1 settings unknown", "2 settings not supported"});
}
