// SPDX-License-Identifier: Apache-2.0
#include "core/kube/leader.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kube;

TEST_CASE("a lease names its holder and times") {
  const auto state = parse_lease_state(R"({"metadata": {"name": "l"}, "spec": {"holderIdentity": "a",
    "leaseDurationSeconds": 15, "leaseTransitions": 3, "acquireTime": "2026-01-02T03:04:05.000000Z",
    "renewTime": "2026-01-02T03:04:06.000000Z"}})");
  REQUIRE(state);
  CHECK(state->holder == "a");
  CHECK(state->duration == std::chrono::seconds(15));
  CHECK(state->transitions == 3);
  CHECK(state->acquired == "2026-01-02T03:04:05.000000Z");
  CHECK(state->renewed == "2026-01-02T03:04:06.000000Z");
}

TEST_CASE("a lease without a spec has no holder, and other texts are errors") {
  for (const char* text : {"{}", R"({"spec": null})", R"({"spec": {"leaseDurationSeconds": -5}})"}) {
    CAPTURE(text);
    const auto state = parse_lease_state(text);
    REQUIRE(state);
    CHECK(state->holder.empty());
    CHECK(state->duration == Duration::zero());
  }
  for (const char* text : {"", "[]", "{", R"({"spec": 1})", R"({"spec": {"holderIdentity": 5}})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_lease_state(text));
  }
}

TEST_CASE("an identity carries an address, and only a valid one is returned") {
  CHECK(address_of_identity(make_identity("10.0.0.7:8443", "koord-manager-a", 255)) == "10.0.0.7:8443");
  CHECK(address_of_identity(make_identity("[fd00::1]:8443", "p", 1)) == "[fd00::1]:8443");
  for (const char* identity : {"", "pod_uuid", "/pod/1", "10.0.0.7/pod/1", "10.0.0.7:0/pod/1", "10.0.0.7:70000/pod/1",
                               ":8443/pod/1", "fd00::1:8443/pod/1", "a b:80/pod/1", "evil@host:80/p/1"}) {
    CAPTURE(identity);
    CHECK(address_of_identity(identity).empty());
  }
}

TEST_CASE("an identity carries the pod of its replica") {
  CHECK(pod_of_identity("10.0.0.7:8443/koord-manager-5c9f/9ab03d") == "koord-manager-5c9f");
  CHECK(pod_of_identity("").empty());
  CHECK(pod_of_identity("10.0.0.7:8443").empty());
}

TEST_CASE("an address is taken apart, without the brackets of IPv6") {
  CHECK(*split_address("manager.test:8443") == HostAndPort{"manager.test", 8443});
  CHECK(*split_address("[fd00::1]:443") == HostAndPort{"fd00::1", 443});
  const auto refused = split_address("10.0.0.7");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text == "expected an address such as '10.0.0.7:8443', found '10.0.0.7'");
  for (const char* text : {"fd00::1:443", "[10.0.0.7]:443", "[name]:443", "[]:443", "[fd00::1]", "[fd00::1:443"}) {
    CAPTURE(text);
    CHECK_FALSE(split_address(text));
  }
}

TEST_CASE("a lease is named with its namespace") {
  CHECK(parse_lease_place("ns/koord-manager")->collection() == "/apis/coordination.k8s.io/v1/namespaces/ns/leases");
  for (const char* text : {"", "name", "/name", "ns/", "a/b/c"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_lease_place(text));
  }
}
