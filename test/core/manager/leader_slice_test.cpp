// SPDX-License-Identifier: Apache-2.0
#include "core/manager/leader_slice.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"
#include "core/kube/connection_config.hpp"
#include "core/kube/leader.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::manager;
using namespace koord::test;

namespace {

LeaderEndpoint endpoint(const std::string& address) {
  LeaderEndpoint leader = parse_endpoint(address).value();
  leader.name_space = "koordetector";
  leader.service = "koord-manager";
  leader.pod = "koord-manager-a";
  return leader;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TestCluster& cluster() {
  static TestCluster cluster;
  return cluster;
}

struct Writer : LoopHere {
  explicit Writer(const std::string& address)
      : client(loop, workers, clock, *kube::find_config(cluster().kubeconfig()), {}),
        slice(loop, client, endpoint(address), [this] { return leads; }) {
    cluster().clear_faults();
  }
  std::string object() { return cluster().get("EndpointSlice", "koord-manager-leader", "koordetector").value_or(""); }
  std::string endpoints() { return cluster().get("Endpoints", "koord-manager", "koordetector").value_or(""); }
  void lead(bool begins) {
    leads = begins;
    slice.lead(begins);
  }

  bool leads = false;
  SystemClock clock;
  kube::Client client;
  LeaderSlice slice;
};

}  // namespace

TEST_CASE("an endpoint is an IP address with a port") {
  CHECK(parse_endpoint("10.0.0.7:9443")->address == "10.0.0.7");
  CHECK(parse_endpoint("10.0.0.7:9443")->port == 9443);
  CHECK(parse_endpoint("[fd00::7]:9443")->address == "fd00::7");
  for (const char* text : {"", "10.0.0.7", "10.0.0.7:0", "10.0.0.7:65536", "host:9443", "10.0.0:1", ":9443", "[::1]",
                           "[10.0.0.7]:9443", "[:]:9443"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_endpoint(text));
  }
}

// Otherwise the slice would have an endpoint that agents cannot read and that the Lease does not name.
TEST_CASE("IPv6 without brackets is no endpoint, as it is no address of a leader") {
  for (const char* text : {"fd00::7:9443", "::1:9443", "fd00::7"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_endpoint(text));
    CHECK_FALSE(kube::split_address(text));
  }
}

TEST_CASE("the slice has the leader as its only endpoint, and the Service's name") {
  const std::string text = slice_json(endpoint("10.0.0.7:9443"));
  CHECK(has(text, R"("name":"koord-manager-leader")"));
  CHECK(has(text, R"("kubernetes.io/service-name":"koord-manager")"));
  CHECK(has(text, R"("addressType":"IPv4")"));
  CHECK(has(text, R"("addresses":["10.0.0.7"])"));
  CHECK(has(text, R"("ports":[{"name":"https","port":9443,"protocol":"TCP"}])"));
  CHECK(has(text, R"("targetRef":{"kind":"Pod","name":"koord-manager-a","namespace":"koordetector"})"));
  CHECK(has(slice_json(endpoint("[fd00::7]:9443")), R"("addressType":"IPv6")"));
}

TEST_CASE("a correct slice is not written; a changed one keeps the parts of other writers") {
  const LeaderEndpoint own = endpoint("10.0.0.7:9443"), other = endpoint("10.0.0.8:9443");
  CHECK_FALSE(slice_with(slice_json(own), own).value().has_value());
  std::string text = slice_json(other);
  text.insert(text.find(R"("labels":{)") + 10, R"("a":"b",)");
  const auto changed = slice_with(text, own).value();
  REQUIRE(changed.has_value());
  CHECK(has(*changed, R"("addresses":["10.0.0.7"])"));
  CHECK_FALSE(has(*changed, "10.0.0.8"));
  CHECK(has(*changed, R"("a":"b")"));
  CHECK_FALSE(slice_with("[]", own));
}

TEST_CASE("the Endpoints have the same endpoint for older aggregators, and no slice is made from them") {
  const LeaderEndpoint own = endpoint("10.0.0.7:9443");
  const std::string text = endpoints_json(own);
  CHECK(has(text, R"("name":"koord-manager","namespace":"koordetector")"));
  CHECK(has(text, R"("endpointslice.kubernetes.io/skip-mirror":"true")"));
  CHECK(has(text, R"("subsets":[{"addresses":[{"ip":"10.0.0.7",)"));
  CHECK(has(text, R"("ports":[{"name":"https","port":9443,"protocol":"TCP"}])"));
  CHECK_FALSE(endpoints_with(text, own).value().has_value());
  CHECK(has(endpoints_with(text, endpoint("10.0.0.8:9443")).value().value_or(""), R"("ip":"10.0.0.8")"));
  CHECK_FALSE(endpoints_with("[]", own));
}

TEST_CASE("a replica publishes itself when it begins to lead, and not before") {
  Writer a("10.0.0.7:9443");
  a.slice.lead(false);
  CHECK(a.object().empty());
  a.lead(true);
  REQUIRE(a.until([&] { return has(a.object(), "10.0.0.7") && has(a.endpoints(), "10.0.0.7"); }));
  a.lead(false);
  Writer b("10.0.0.8:9443");
  b.lead(true);
  REQUIRE(b.until([&] { return has(b.object(), "10.0.0.8") && has(b.endpoints(), "10.0.0.8"); }));
  CHECK_FALSE(has(b.object(), "10.0.0.7"));
  CHECK_FALSE(has(b.endpoints(), "10.0.0.7"));
}

TEST_CASE("a refused write is named, repeated, and given up by a replica that leads no longer") {
  Writer a("10.0.0.9:9443");
  cluster().fault("deny", R"({"kind": "EndpointSlice"})");
  a.lead(true);
  REQUIRE(a.until([&] { return has(a.slice.problem(), "403"); }));
  a.leads = false;  // the slice has not noticed this yet
  cluster().clear_faults();
  REQUIRE(a.until([&] { return cluster().requests(R"({"kind": "EndpointSlice", "status": 403})").size() >= 1; }));
  CHECK_FALSE(has(a.object(), "10.0.0.9"));
  a.lead(true);
  CHECK(a.until([&] { return has(a.object(), "10.0.0.9") && a.slice.problem().empty(); }));
}

TEST_CASE("a leader with addresses of the other family replaces the slice of the one before it") {
  Writer a("10.0.0.7:9443");
  a.lead(true);
  REQUIRE(a.until([&] { return has(a.object(), "10.0.0.7"); }));
  a.lead(false);
  Writer b("[fd00::7]:9443");
  b.lead(true);
  REQUIRE(b.until([&] { return has(b.object(), "fd00::7"); }));
  CHECK(has(b.object(), R"("addressType": "IPv6")"));
  CHECK_FALSE(has(b.object(), "10.0.0.7"));
  CHECK(b.until([&] { return has(b.endpoints(), "fd00::7") && b.slice.problem().empty(); }));
}

TEST_CASE("a slice of the other family that may not be deleted is a problem that names the refusal") {
  Writer a("10.0.0.7:9443");
  cluster().fault("deny", R"({"kind": "EndpointSlice", "verb": "delete"})");
  a.lead(true);
  REQUIRE(a.until([&] { return has(a.slice.problem(), "EndpointSlice: 403"); }));
  CHECK(has(a.object(), "fd00::7"));
  a.lead(false);
  CHECK(a.slice.problem().empty());
  a.lead(true);
  REQUIRE(a.until([&] { return has(a.slice.problem(), "EndpointSlice: 403"); }));
  cluster().clear_faults();
  CHECK(a.until([&] { return has(a.object(), "10.0.0.7") && a.slice.problem().empty(); }));
}

TEST_CASE("a slice of the other family that a finalizer holds is asked about with pauses, and the finalizer is named") {
  cluster().command("merge", R"({"kind":"EndpointSlice","name":"koord-manager-leader","namespace":"koordetector",
                                "patch":{"metadata":{"finalizers":["example.com/hold"]}}})");
  Writer b("[fd00::7]:9443");
  const std::size_t before = cluster().requests(R"({"kind": "EndpointSlice"})").size();
  b.lead(true);
  const auto begin = b.clock.now();
  REQUIRE(b.until([&] {
    return has(b.slice.problem(), "'koord-manager-leader' has addresses of the other IP family and is being deleted; "
                                  "waiting for its finalizers: example.com/hold");
  }));
  REQUIRE(b.until([&] { return b.clock.now() > begin + std::chrono::seconds(3); }));
  CHECK(cluster().requests(R"({"kind": "EndpointSlice"})").size() < before + 15);
  cluster().remove("EndpointSlice", "koord-manager-leader", "koordetector");
  CHECK(b.until([&] { return has(b.object(), "fd00::7") && b.slice.problem().empty(); }));
}
