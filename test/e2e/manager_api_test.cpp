// SPDX-License-Identifier: Apache-2.0
// koord-manager's aggregated API with an aggregator in front of it: reports of nodes, rights of clients, and failovers.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>

#include "core/base/timestamp.hpp"
#include "core/kube/list_watch.hpp"
#include "test/e2e/manager_cluster.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// An informer that watches through the aggregator.
struct Informer : LoopHere {
  explicit Informer(ManagerCluster& cluster)
      : client(loop, workers, clock, *kube::find_config(cluster.cluster.kubeconfig()), {.requests_per_second = 50}),
        watch(loop, workers, clock, client, {.path = kNodeMetricPath},
              {.reflector = {.first_wait = 200ms, .longest_wait = 1s, .rare = 1s}},
              {.on_objects =
                   [this](const kube::Objects&, const kube::Difference& what) {
                     for (const std::string& name : what.removed) removed.insert(name);
                   },
               .on_health = {},
               .on_confirmed = {}}) {}

  std::uint64_t version(const std::string& name) const {
    const auto found = watch.objects().find(name);
    return found == watch.objects().end() ? 0 : std::stoull(found->second->resource_version);
  }
  bool has_all_above(const std::vector<std::string>& nodes, std::uint64_t least) const {
    return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) { return version(node) > least; });
  }
  // Returns the status of the condition Fresh.
  std::string fresh(const std::string& name) const {
    const auto found = watch.objects().find(name);
    if (found == watch.objects().end()) return "none";
    for (const char* value : {"True", "False"})
      if (contains(found->second->text, R"({"type":"Fresh","status":")" + std::string(value))) return value;
    return "none";
  }
  std::uint64_t newest() const {
    std::uint64_t newest = 0;
    for (const auto& [name, object] : watch.objects()) newest = std::max(newest, version(name));
    return newest;
  }

  SystemClock clock;
  kube::Client client;
  std::set<std::string> removed;
  kube::ListWatch watch;
};

// A node with ten cores and batch resources. It reports in NodeMetrics of slo.koordinator.sh.
struct Colocation {
  explicit Colocation(TestCluster& of) : cluster(of) {
    cluster.merge("Node", "test-node",
                  R"({"status":{"capacity":{"cpu":"10","memory":"10G"},"allocatable":{"cpu":"10","memory":"10G"}}})");
    cluster.put(
        R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"slo-controller-config","namespace":"koordinator-system"},
        "data":{"colocation-config":"{\"enable\":true}"}})");
  }
  void use(const std::string& cores) const {
    const std::string time = format_timestamp(std::time(nullptr) + std::stoi(cores));
    cluster.merge("NodeMetric", "test-node",
                  R"({"status":{"updateTime":")" + time + R"(",
        "nodeMetric":{"systemUsage":{"resources":{"cpu":"1"}}},"podsMetric":[{"namespace":"shop","name":"web",
        "priority":"koord-prod","podUsage":{"resources":{"cpu":")" +
                      cores + R"("}}}]}})");
  }
  void wait_for_batch(const std::string& milli) const {
    cluster.wait_for_object("Node", "test-node",
                            R"({"pointer":"/status/allocatable/kubernetes.io~1batch-cpu","equals":")" + milli + "\"}");
  }

  TestCluster& cluster;
};

// Returns the largest resident memory so far, in bytes.
std::uint64_t peak_memory(pid_t process) {
  const std::string status = read_file("/proc/" + std::to_string(process) + "/status", 1 << 16).value_or("");
  const std::size_t at = status.find("VmHWM:");
  REQUIRE(at != status.npos);
  return std::stoull(status.substr(at + 6)) << 10;
}

struct TwoReplicas : ManagerCluster {
  explicit TwoReplicas(std::vector<std::string> nodes = {})
      : ManagerCluster(std::move(nodes)), first(start("a")), second() {
    REQUIRE(eventually([&] { return first->leads(); }));
    second = start("b", true);
    wait_until_available();
  }
  void fill() {
    for (const std::string& node : nodes()) CHECK(report(node, 100).status == 201);
    REQUIRE(eventually([&] { return ask({"-H", token_of("test-node")}, kNodeMetricPath).status == 200; }));
  }

  std::unique_ptr<Replica> first, second;
};

}  // namespace

TEST_CASE("reports of nodes are listed and watched through failovers without a deletion, and versions never decrease") {
  TwoReplicas two({"node-1", "node-2", "node-3"});
  const Reporter reporter(two);
  Informer informer(two);
  REQUIRE(informer.until([&] { return informer.has_all_above(two.nodes(), 0); }));
  std::unique_ptr<Replica> third;
  for (std::unique_ptr<Replica>* leader : {&two.first, &two.second}) {
    Replica& next = leader == &two.first ? *two.second : *(third = two.start("c"));
    const std::uint64_t before = informer.newest();
    (*leader)->process().signal(SIGKILL);
    REQUIRE(informer.until([&] { return next.leads(); }));
    REQUIRE(informer.until([&] { return informer.has_all_above(two.nodes(), before); }));
    CHECK(informer.watch.objects().size() == two.nodes().size());
  }
  CHECK(informer.removed.empty());
  two.cluster.command("wait_for_object",
                      R"({"kind":"EndpointSlice","name":"koord-manager-leader","namespace":"koordetector",
                          "pointer":"/endpoints/0/targetRef/name","equals":"c"})");
}

TEST_CASE("a node that stops reporting is not fresh until it reports again; watches show this without a deletion") {
  ManagerCluster cluster({"node-1"});
  const auto replica = cluster.start("a");
  REQUIRE(eventually([&] { return replica->leads(); }));
  cluster.wait_until_available();
  Informer informer(cluster);
  // A report makes it fresh for three seconds. A loaded machine may need longer to pass this on, so the node reports
  // until the watch shows it.
  const auto is_seen_fresh = [&] {
    CHECK(cluster.report("node-1", 1).status < 300);
    return informer.fresh("node-1") == "True";
  };
  // The server knows its period after some reports.
  for (int i = 1; i <= 5; ++i) CHECK(cluster.report("node-1", i).status < 300);
  REQUIRE(informer.until(is_seen_fresh));
  const auto reports = cluster.metric(*replica, "koord_manager_serve_reports_total");
  REQUIRE(informer.until([&] { return informer.fresh("node-1") == "False"; }));
  CHECK(cluster.metric(*replica, "koord_manager_serve_stale_objects") == 1);
  CHECK(cluster.metric(*replica, "koord_manager_serve_reports_total") == reports);
  REQUIRE(informer.until(is_seen_fresh));
  CHECK(informer.removed.empty());
}

TEST_CASE("a node that reports less often stays fresh, while others that stop reporting do not") {
  ManagerCluster cluster({"node-1", "node-2"});
  const auto replica = cluster.start("a");
  REQUIRE(eventually([&] { return replica->leads(); }));
  cluster.wait_until_available();
  Informer informer(cluster);
  const auto report = [&](const std::string& node, int milli, const std::string& period) {
    const auto options = ManagerCluster::report_of(node, milli, {}, R"("reportIntervalSeconds":)" + period + ",");
    CHECK(cluster.ask(options, kNodeMetricPath + "/" + node + "/status").status < 300);
  };
  report("test-node", 1, "60");
  for (int i = 1; i <= 5; ++i) report("node-1", i, "1");
  report("node-1", 6, "60");
  for (int i = 1; i <= 5; ++i) report("node-2", i, "1");
  REQUIRE(informer.until([&] { return informer.fresh("node-2") == "False"; }));
  CHECK(informer.fresh("node-1") == "True");
  report("node-1", 7, "1");
  REQUIRE(informer.until([&] { return informer.fresh("node-1") == "False"; }));
}

TEST_CASE("a report is mirrored to slo.koordinator.sh without the fields that Koordinator's NodeMetric lacks") {
  ManagerCluster cluster;
  const auto replica = cluster.start("a", false, {}, {"featureGates={NodeMetricMirror: true}"});
  REQUIRE(eventually([&] { return cluster.cluster.get("NodeMetric", "test-node").has_value(); }));
  cluster.wait_until_available();
  std::vector<std::string> report = ManagerCluster::report_of("test-node", 100);
  report.back() =
      R"({"kind":"NodeMetric","apiVersion":"metrics.koordetector.sh/v1alpha1","metadata":{"name":"test-node"},"status":{
      "updateTime":"2026-01-02T03:04:05Z","podsMetric":[{"name":"web-0","namespace":"shop","podUsage":{},
      "pressure":{"ioStallSeconds":0.5}}],"conditions":[{"type":"Fresh","status":"False","reason":"forged",
      "message":"","lastTransitionTime":"1999-01-01T00:00:00Z"}]}})";
  const Answer stored = cluster.ask(report, kNodeMetricPath + "/test-node/status");
  CHECK(stored.status == 201);
  CHECK(contains(stored.text, "ioStallSeconds"));
  CHECK(contains(stored.text, R"({"type":"Fresh","status":"True")"));
  CHECK_FALSE(contains(stored.text, "forged"));
  std::string mirrored;
  REQUIRE(eventually([&] { return contains(mirrored = *cluster.cluster.get("NodeMetric", "test-node"), "web-0"); }));
  for (const char* part : {"pressure", "interference", "conditions"}) {
    CAPTURE(part);
    CHECK_FALSE(contains(mirrored, part));
  }
  CHECK(eventually(
      [&] { return cluster.metric(*replica, "koord_manager_mirror_writes_total", {"result=\"written\""}) == 1; }));
}

TEST_CASE("an API server that hangs at the mirror's writes, or refuses them, delays no lease, report or other write") {
  const std::string of_mirror = R"({"verb":"patch","kind":"NodeMetric"})";
  const std::map<std::string, std::string> faults = {
      {"hang", of_mirror}, {"too_many_requests", R"({"verb":"patch","kind":"NodeMetric","retry_after":60})"}};
  for (const auto& fault : faults) {
    CAPTURE(fault.first);
    std::vector<std::string> nodes;
    for (int i = 0; i < 40; ++i) nodes.push_back("node-" + std::to_string(i));
    ManagerCluster cluster(nodes);
    const Colocation colocation(cluster.cluster);
    cluster.cluster.fault(fault.first, fault.second);
    const auto replica = cluster.start("a", false, {}, {"featureGates={NodeMetricMirror: true}"});
    cluster.wait_until_available();
    cluster.cluster.wait_for_object("NodeMetric", "test-node");
    for (const std::string& node : nodes) CHECK(cluster.report(node, 100).status == 201);
    const auto refused = std::chrono::steady_clock::now();
    cluster.cluster.wait_for_requests(of_mirror);
    colocation.use("1");
    colocation.wait_for_batch("4000");
    colocation.use("4");
    colocation.wait_for_batch("1000");
    // The patches of the node were not delayed until the mirror's next attempt, one minute after the first refusal.
    const std::size_t writes = cluster.cluster.requests(of_mirror).size();
    if (fault.first == "too_many_requests" && std::chrono::steady_clock::now() - refused < 50s) CHECK(writes <= 16);
    for (const std::string& node : nodes) CHECK(cluster.report(node, 200).status == 200);
    CHECK_FALSE(contains(replica->log(), "leads no longer"));
    CHECK(cluster.metric(*replica, "koord_manager_mirror_writes_total", {"result=\"written\""}) == 0);
  }
}

TEST_CASE("versions do not decrease when a replica with a clock 30 s behind takes over") {
  if (kSanitized) return;  // a sanitizer's library must be loaded before others
  ManagerCluster cluster({"node-1"});
  const auto first = cluster.start("a");
  REQUIRE(eventually([&] { return first->leads(); }));
  cluster.wait_until_available();
  const auto second =
      cluster.start("b", true, {"LD_PRELOAD=" + built("test/e2e/libkoord-slow-clock.so"), "KOORD_SECONDS_BEHIND=30"});
  REQUIRE(eventually([&] { return contains(second->log(), "serves /healthz"); }));
  CHECK(second->log().substr(0, 20) < first->log().substr(0, 20));  // compares the times
  const Reporter reporter(cluster);
  Informer informer(cluster);
  REQUIRE(informer.until([&] { return informer.has_all_above(cluster.nodes(), 0); }));
  const std::uint64_t before = informer.newest();
  first->process().signal(SIGKILL);
  REQUIRE(informer.until([&] { return second->leads(); }));
  REQUIRE(informer.until([&] { return informer.has_all_above(cluster.nodes(), before); }));
  CHECK(informer.removed.empty());
}

TEST_CASE("large bodies of unauthenticated clients take no memory, and agents continue to report") {
  constexpr int kClients = 20;
  TwoReplicas two;
  two.fill();
  const std::uint64_t before = peak_memory(two.first->process().pid());
  const std::string request = "PUT " + kNodeMetricPath +
                              "/test-node/status HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer unknown\\r\\n"
                              "Content-Length: 3000000\\r\\n\\r\\n";
  std::vector<std::unique_ptr<ChildProcess>> clients;
  for (int i = 0; i < kClients; ++i)
    clients.push_back(std::make_unique<ChildProcess>(std::vector<std::string>{
        "/bin/sh", "-c",
        "(printf '" + request + "'; head -c 2900000 /dev/zero) | openssl s_client -quiet -connect 127.0.0.1:" +
            two.first->api_port() + " >/dev/null 2>&1"}));
  REQUIRE(eventually([&] {
    CHECK(two.report("test-node", 100).status == 200);
    return two.metric(*two.first, "koord_manager_serve_refused_total", {"reason=\"unauthenticated\""}) == kClients;
  }));
  CHECK(peak_memory(two.first->process().pid()) < before + (20u << 20));
}

TEST_CASE("a node's token may write its own NodeMetric only; a refusal is logged and counted") {
  TwoReplicas two({"node-1"});
  two.fill();
  const std::string other = kNodeMetricPath + "/node-1/status";
  const Answer through = two.ask(ManagerCluster::report_of("node-1", 7, "test-node"), other);
  CHECK(through.status == 403);
  CHECK(contains(through.text, "may write only its own object"));
  CHECK(two.ask(*two.first, ManagerCluster::report_of("node-1", 7, "test-node"), other).status == 403);
  CHECK(two.ask({"-X", "DELETE", "-H", two.token_of("test-node")}, kNodeMetricPath + "/node-1").status == 403);
  // The agents' account without a node in its token, as before Kubernetes 1.29.
  two.cluster.command("set_token",
                      R"({"token":"token-of-none","username":")" + kAgentUser + R"(","groups":[],"login":true})");
  CHECK(two.ask(ManagerCluster::report_of("node-1", 7, "none"), other).status == 403);
  CHECK(contains(line_with(two.first->log(), "refused: '" + kAgentUser), "may not update NodeMetric 'node-1'"));
  CHECK(two.metric(*two.first, "koord_manager_serve_refused_total", {"reason=\"other_node\""}) == 4);
  CHECK(contains(two.ask({"-H", two.token_of("node-1")}, kNodeMetricPath + "/node-1").text, R"("cpu":"100m")"));
}

TEST_CASE("headers of the front proxy are accepted only with its certificate") {
  TwoReplicas two;
  two.fill();
  const std::vector<std::string> masters = {"-H", "X-Remote-User: admin", "-H", "X-Remote-Group: system:masters"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), masters.begin(), masters.end());
    return two.ask(*two.first, more, kNodeMetricPath).status;
  };
  const std::string pki = two.cluster.folder() + "/pki/";
  CHECK(with({"--cert", pki + "front-proxy-client.pem", "--key", pki + "front-proxy-client.key"}) == 200);
  CHECK(with({}) == 401);
  CHECK(with({"--cert", two.certificates().pem("forged"), "--key", two.certificates().key("forged")}) == 401);
  // Without the front proxy's settings, a client's certificate and token identify its own user.
  two.cluster.command("forbid_all");
  CHECK(with({"--cert", pki + "client.pem", "--key", pki + "client.key"}) == 403);
  CHECK(contains(line_with(two.first->log(), "without the front proxy's certificate"), "'admin'"));
  CHECK(two.metric(*two.first, "koord_manager_serve_refused_total", {"reason=\"unauthenticated\""}) == 2);
}

TEST_CASE("unknown tokens and users without the right are refused, and no request is served while reviews fail") {
  TwoReplicas two;
  two.fill();
  const std::vector<std::string> unknown = {"-H", "Authorization: Bearer unknown"};
  CHECK(two.ask(*two.first, unknown, kNodeMetricPath).status == 401);
  CHECK(two.ask(*two.first, {}, kNodeMetricPath).status == 401);
  CHECK(two.ask(*two.first, {}, "/readyz").status == 200);
  two.cluster.command("set_token", R"({"token":"reader","username":"reader"})");
  CHECK(two.ask(*two.first, {"-H", "Authorization: Bearer reader"}, kNodeMetricPath).status == 403);
  two.cluster.fault("error", R"({"path":"tokenreviews","code":500})");
  CHECK(two.ask(*two.first, {"-H", "Authorization: Bearer another"}, kNodeMetricPath).status == 503);
  CHECK(two.metric(*two.first, "koord_manager_serve_refused_total", {"reason=\"unavailable\""}) == 1);
}

TEST_CASE("a replica that does not lead refuses and names the leader") {
  TwoReplicas two;
  two.fill();
  REQUIRE(eventually([&] {
    return contains(two.ask(*two.second, {}, kNodeMetricPath).text,
                    "X-Koordetector-Leader: 127.0.0.1:" + two.first->api_port());
  }));
  const Answer answer = two.ask(*two.second, {"-H", two.token_of("test-node")}, kNodeMetricPath);
  CHECK(answer.status == 503);
  CHECK(contains(answer.text, "Retry-After: 1"));
  CHECK(two.ask(*two.second, {}, "/readyz").status == 503);
  CHECK(two.ask(*two.second, {}, "/healthz").status == 200);
}

TEST_CASE("a leader that is cut off from the API server stops serving before the next leader begins") {
  TwoReplicas two;
  two.fill();
  two.cluster.fault("hang", R"({"user":")" + kAgentUser + "\"}");
  const auto serves = [&](const Replica& replica) { return two.ask(replica, {}, "/readyz").status == 200; };
  CHECK(serves(*two.first));
  REQUIRE(eventually([&] { return two.second->leads(); }));
  CHECK_FALSE(serves(*two.first));
  // Each line begins with its time.
  CHECK(line_with(two.first->log(), "leads no longer") < line_with(two.second->log(), "leads now"));
  CHECK(two.ask(*two.second, ManagerCluster::report_of("test-node", 5), kNodeMetricPath + "/test-node/status").status ==
        201);
}

TEST_CASE("a leader that was stopped for some time serves no request when it continues") {
  TwoReplicas two;
  two.fill();
  two.first->process().signal(SIGSTOP);
  REQUIRE(eventually([&] { return two.second->leads(); }));
  two.first->process().signal(SIGCONT);
  CHECK(two.ask(*two.first, ManagerCluster::report_of("test-node", 5), kNodeMetricPath + "/test-node/status").status ==
        503);
  CHECK(eventually([&] { return contains(two.first->log(), "leads no longer"); }));
}

TEST_CASE("the certificate of the API is replaced without a restart") {
  TwoReplicas two;
  two.fill();
  two.certificates().authority("ca");
  two.certificates().issue("ca", "server", "/CN=koord-manager", "subjectAltName=DNS:koord-manager.koordetector.svc");
  CHECK(eventually([&] { return two.ask(*two.first, {}, "/readyz").status == 200; }));
}

TEST_CASE("serve.address without a certificate is refused with its key") {
  const Finished wrong =
      run_to_end({built("core/manager/koord-manager"), "--check-config", "--set", "serve.address=:9443"});
  CHECK(wrong.exit_status == 2);
  CHECK(contains(wrong.output, "serve.certificateFile"));
  CHECK(contains(wrong.output, "serve.keyFile"));
}

TEST_CASE("--check-config refuses a configuration with which a replica cannot serve") {
  CertificateFolder certificates;
  certificates.authority("ca");
  certificates.issue("ca", "server", "/CN=any", "subjectAltName=DNS:koord-manager.koordetector.svc");
  const auto check = [&](const std::string& pod_ip, const std::string& service) {
    return run_to_end({"/usr/bin/env", "POD_IP=" + pod_ip, built("core/manager/koord-manager"), "--check-config",
                       "--set", "serve.address=:9443", "--set", "serve.certificateFile=" + certificates.pem("server"),
                       "--set", "serve.keyFile=" + certificates.key("server"), "--set", "serve.service=" + service});
  };
  CHECK(check("10.0.0.7", "koord-manager").exit_status == 0);
  const Finished addressless = check("", "koord-manager");
  CHECK(addressless.exit_status == 2);
  CHECK(contains(addressless.output, "advertise: expected an IP address and a port"));
  const Finished nameless = check("10.0.0.7", "other");
  CHECK(nameless.exit_status == 2);
  CHECK(contains(nameless.output, "expected a certificate with the DNS name 'other.koordetector.svc', "
                                  "found the DNS names koord-manager.koordetector.svc"));
}
