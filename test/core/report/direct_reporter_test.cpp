// SPDX-License-Identifier: Apache-2.0
// Direct reports to a manager with the real API, which a Lease of the test cluster names, and to servers that hang,
// send wrong answers, redirect, or never end.
#include "core/report/direct_reporter.hpp"

#include <mutex>

#include "core/log/capture.hpp"
#include "test/core/http/scripted_server.hpp"
#include "test/core/report/reporting_node.hpp"
#include "test/core/report/stub_manager.hpp"

using namespace koord;
using namespace koord::test;
namespace json = boost::json;

namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;
constexpr aggregated::Version kFirst = aggregated::kLeastVersion;

struct Direct : ReportingNode {
  aggregated::Store store{kFirst};
  DirectOptions options{.node_name = "test-node", .period = 50ms, .ca_file = manager_certificates().pem("ca")};
  std::atomic<bool> is_fit = true;
  std::unique_ptr<DirectReporter> reporter;

  Direct() {
    usage("node", {}, {4}, {8 * kGi});
    usage("sys", {}, {1}, {kGi});
    pod("u1", "shop", "web-0", {0.5}, {kGi});
    run(300s);
    if (cluster.get("Lease", "koord-manager", "koordetector")) cluster.remove("Lease", "koord-manager", "koordetector");
  }
  ~Direct() { reporter.reset(); }

  void lead(const std::string& address) {
    cluster.put(
        R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"koord-manager","namespace":"koordetector"},)"
        R"("spec":{"holderIdentity":")" +
        address + R"(/koord-manager-1/7f","leaseDurationSeconds":6}})");
  }
  void start() {
    const DirectReport report{this->report(), {{{"shop", "web-0"}, {{0.25, std::nullopt, 0.5}, {}}}}};
    reporter = std::make_unique<DirectReporter>(
        DirectReporter::Parts{loop, workers, real_clock, client,
                              [this, report] {
                                DirectReport now = report;
                                now.report.status.update_seconds = real_clock.wall_ns() / 1'000'000'000;
                                if (!is_fit) now.report.refusal = "no fresh samples of the node's usage";
                                return now;
                              }},
        options);
    reporter->start();
  }
  std::string status(const char* pointer) {
    const aggregated::ObjectPtr object = store.find("test-node");
    if (!object) return "no object";
    boost::system::error_code missing;
    const json::value value = json::parse(object->status().value());
    const json::value* found = value.find_pointer(pointer, missing);
    return found == nullptr ? "nothing" : json::serialize(*found);
  }
  std::uint64_t tries() {
    const auto view = reporter->view();
    return view.failed + view.refused;
  }
  // Checks that the reporter keeps trying, and that no report was accepted.
  void check_fails(const std::string& problem) {
    REQUIRE(until([&] { return tries() >= 2; }));
    const DirectReporter::View view = reporter->view();
    CHECK(view.whole + view.unchanged == 0);
    CHECK_FALSE(view.accepted);
    CHECK_MESSAGE(view.problem.find(problem) != std::string::npos, view.problem);
  }
};

http::SlowHandler answer_of(http::Response response) {
  return [response = std::move(response)](const http::Request&, const http::Reply& reply) { reply(response); };
}

// A body of 1 GiB of zeros that counts how much of it was read.
class EndlessBody final : public http::BodyStream {
 public:
  explicit EndlessBody(std::atomic<std::uint64_t>& taken) : taken_(taken) {}
  Piece next(const std::function<void()>&) override {
    if (taken_ >= 1u << 30) return {.state = State::ended};
    taken_ += kPiece->size();
    return {.state = State::piece, .body = kPiece};
  }

 private:
  inline static const auto kPiece = std::make_shared<const std::string>(16u << 10, '0');
  std::atomic<std::uint64_t>& taken_;
};

}  // namespace

TEST_CASE_FIXTURE(Direct, "a report reaches the manager that holds the Lease, with pressure of pods") {
  StubManager manager(store);
  lead(manager.address());
  start();
  REQUIRE(until([&] { return reporter->view().whole > 0; }));
  CHECK(reporter->is_fresh());
  CHECK(reporter->view().manager == manager.address());
  CHECK(reporter->view().problem.empty());
  CHECK(status("/nodeMetric/nodeUsage/resources/cpu") == R"("4")");
  CHECK(status("/reportIntervalSeconds") == "1");
  CHECK(status("/podsMetric/0/pressure") == R"({"schedulingDelaySeconds":2.5E-1,"ioStallSeconds":5E-1})");
}

TEST_CASE_FIXTURE(Direct, "a report that the manager has is not sent again: only its time is, and its time moves on") {
  StubManager manager(store);
  lead(manager.address());
  start();
  REQUIRE(until([&] { return reporter->view().whole == 1; }));
  const std::uint64_t bytes = reporter->view().bytes;
  const std::string first = status("/updateTime");
  REQUIRE(until([&] { return status("/updateTime") != first && reporter->view().unchanged > 10; }));
  CHECK(reporter->view().whole == 1);
  const DirectReporter::View view = reporter->view();
  CHECK(view.bytes - bytes <= (view.unchanged + 1) * 64);
  CHECK(status("/nodeMetric/nodeUsage/resources/cpu") == R"("4")");
  CHECK(view.lookups == 1);
}

TEST_CASE_FIXTURE(Direct, "when the leader is gone, the next one gets a whole report") {
  aggregated::Store first_store(kFirst);
  auto first = std::make_unique<StubManager>(first_store);
  lead(first->address());
  start();
  REQUIRE(until([&] { return reporter->view().unchanged > 0; }));
  first.reset();
  REQUIRE(until([&] { return reporter->view().failed > 0; }));
  StubManager second(store);
  lead(second.address());
  REQUIRE(until([&] { return reporter->view().manager == second.address() && reporter->view().whole == 2; }));
  CHECK(store.find("test-node"));
  CHECK(reporter->view().problem.empty());
}

TEST_CASE_FIXTURE(Direct, "a replica that is no longer the leader refuses, and the Lease is read again") {
  StubManager standby(store);
  store.close();
  lead(standby.address());
  start();
  check_fails("503");
  CHECK(reporter->view().lookups >= 2);
}

TEST_CASE_FIXTURE(Direct, "without a manager the agent says so, and reports when there is one") {
  log::Capture lines;
  start();
  REQUIRE(until([&] { return reporter->view().lookups >= 3; }));
  CHECK(reporter->view().problem == "there is no manager: the Lease 'koordetector/koord-manager' does not exist");
  CHECK_FALSE(reporter->is_fresh());
  StubManager manager(store);
  lead(manager.address());
  REQUIRE(until([&] { return reporter->is_fresh(); }));
  std::size_t begun = 0;
  for (const std::string& line : lines.lines()) begun += line.find("no direct report") != std::string::npos;
  CHECK(begun == 1);
}

TEST_CASE_FIXTURE(Direct, "a holder without an address is named") {
  lead("somewhere");
  start();
  REQUIRE(until([&] { return reporter->view().lookups >= 2; }));
  CHECK(reporter->view().problem.find("has no address: 'somewhere/koord-manager-1/7f'") != std::string::npos);
}

TEST_CASE_FIXTURE(Direct, "a configured address needs no Lease") {
  StubManager manager(store);
  options.address = manager.address();
  start();
  REQUIRE(until([&] { return reporter->view().whole == 1; }));
  CHECK(reporter->view().lookups == 0);
}

TEST_CASE_FIXTURE(Direct, "a node with another name than its token's is refused") {
  StubManager manager(store, "other-node");
  lead(manager.address());
  start();
  check_fails("403");
  CHECK_FALSE(store.find("test-node"));
}

TEST_CASE_FIXTURE(Direct, "while the node's usage is unknown nothing is sent") {
  StubManager manager(store);
  lead(manager.address());
  is_fit = false;
  start();
  REQUIRE(until([&] { return reporter->view().unfit >= 3; }));
  CHECK(manager.requests() == 0);
  CHECK(reporter->view().problem == "no fresh samples of the node's usage");
  is_fit = true;
  REQUIRE(until([&] { return reporter->is_fresh(); }));
}

TEST_CASE_FIXTURE(Direct, "the first report does not wait for a long period, nor does one after a failure before it") {
  StubManager manager(store);
  options.period = 1h;
  is_fit = false;
  start();
  REQUIRE(until([&] { return reporter->view().lookups >= 2; }));
  lead(manager.address());
  REQUIRE(until([&] { return reporter->view().unfit >= 2; }));
  is_fit = true;
  REQUIRE(until([&] { return reporter->view().whole == 1; }));
  CHECK(status("/reportIntervalSeconds") == "3600");
}

TEST_CASE_FIXTURE(Direct, "a server with another certificate sees neither token nor report") {
  for (const char* certificate : {"third-party", "elsewhere"}) {
    CAPTURE(certificate);
    StubManager manager(answer_of({.body = R"({"kind":"Status"})"}), certificate);
    lead(manager.address());
    start();
    check_fails("certificate");
    CHECK(manager.requests() == 0);
    reporter.reset();
  }
}

TEST_CASE_FIXTURE(Direct, "a manager that never answers holds one request at a time, and not the loop") {
  std::mutex mutex;
  std::vector<http::Reply> held;
  std::size_t most = 0;
  StubManager manager([&](const http::Request&, const http::Reply& reply) {
    std::lock_guard lock(mutex);
    held.push_back(reply);
    most = std::max(most, held.size());
  });
  lead(manager.address());
  start();
  std::uint64_t turns = 0;
  const auto timer = loop.every(1ms, [&] { ++turns; });
  REQUIRE(until([&] { return manager.requests() == 1; }));
  const std::uint64_t before = turns;
  check_fails("");
  CHECK(turns - before > 100);
  CHECK(manager.requests() <= reporter->view().failed + 1);
}

TEST_CASE_FIXTURE(Direct, "an answer of success that is not an object of the API is not taken for success") {
  for (const char* body : {"", "OK", "{", "[]", R"({"kind":"Pod"})", "\xff\xfe\x00"}) {
    CAPTURE(body);
    StubManager manager(answer_of({.content_type = "application/json", .body = body}));
    lead(manager.address());
    start();
    check_fails("the answer");
    reporter.reset();
  }
}

TEST_CASE_FIXTURE(Direct, "a redirect is not followed") {
  StubManager other(answer_of({.body = R"({"kind":"Status"})"}));
  for (const unsigned code : {301u, 302u, 307u, 308u}) {
    CAPTURE(code);
    StubManager manager(
        answer_of({.status = code, .headers = {{"Location", "https://" + other.address() + "/anywhere"}}}));
    lead(manager.address());
    start();
    check_fails("refuses the report: " + std::to_string(code));
    reporter.reset();
  }
  CHECK(other.requests() == 0);
}

TEST_CASE_FIXTURE(Direct, "of an answer of a gibibyte some kilobytes are read") {
  std::atomic<std::uint64_t> taken = 0;
  StubManager manager([&](const http::Request&, const http::Reply& reply) {
    http::Response response{.content_type = "application/json"};
    response.stream = std::make_shared<EndlessBody>(taken);
    reply(std::move(response));
  });
  lead(manager.address());
  start();
  check_fails("");
  // The sockets of each connection hold more bytes than were read.
  CHECK(taken < manager.requests() * (32u << 20));
  CHECK(taken < 1u << 30);
}

TEST_CASE_FIXTURE(Direct, "a wait of a day that a server asks for is cut to a minute") {
  StubManager manager(answer_of({.status = 429, .headers = {{"Retry-After", "86400"}}}));
  lead(manager.address());
  start();
  REQUIRE(until([&] { return tries() >= 1; }));
  CHECK(reporter->view().problem.find("429") != std::string::npos);
  CHECK_FALSE(reporter->is_busy());
}

TEST_CASE_FIXTURE(Direct, "a port that speaks no TLS, is silent or closes is a failure like others") {
  ScriptedServer wrong([](ScriptedServer::Peer& peer) { peer.send("SSH-2.0-OpenSSH_9.2\r\n"); });
  ScriptedServer closes([](ScriptedServer::Peer& peer) { peer.close(); });
  ScriptedServer silent([](ScriptedServer::Peer& peer) { peer.wait_for_close(); });
  for (const ScriptedServer* server : {&wrong, &closes, &silent}) {
    lead("127.0.0.1:" + std::to_string(server->port()));
    start();
    check_fails("127.0.0.1:" + std::to_string(server->port()));
    reporter.reset();
  }
}
