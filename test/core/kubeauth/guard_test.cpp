// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/guard.hpp"

#include <doctest/doctest.h>

#include "core/http/tls_server.hpp"

using namespace koord;
using namespace koord::kubeauth;

namespace {

http::Request request_with(const std::string& authorization) {
  http::Request request;
  request.headers.emplace_back("authorization", authorization);
  return request;
}

http::Request request_of(http::TlsPeer::Certificate certificate) {
  http::Request request;
  request.tls = std::make_shared<const http::TlsPeer>(http::TlsPeer{"TLSv1.3", std::move(certificate)});
  return request;
}

unsigned status_of(const http::Guard& guard, http::Request request) {
  unsigned status = 0;
  guard(request, [&](std::optional<http::Response> response) { status = response ? response->status : 200; });
  return status;
}

}  // namespace

TEST_CASE("a bearer token is what follows the scheme, in any case") {
  CHECK(bearer_token(request_with("Bearer abc")) == "abc");
  CHECK(bearer_token(request_with("bearer  abc ")) == "abc");
  for (const char* text : {"", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"}) {
    CAPTURE(text);
    CHECK_FALSE(bearer_token(request_with(text)).has_value());
  }
}

TEST_CASE("a certificate names a user with groups only if the authorities of clients verified it") {
  const auto user = certificate_user(
      request_of({.common_name = "prometheus", .organizations = {"a", "b"}, .verified_by = {"proxy", "clients"}}));
  REQUIRE(user.has_value());
  CHECK(user->user == "prometheus");
  CHECK(user->groups == std::vector<std::string>{"a", "b", "system:authenticated"});
  CHECK_FALSE(certificate_user(request_of({.common_name = "prometheus", .verified_by = {"proxy"}})).has_value());
  CHECK_FALSE(certificate_user(request_of({.common_name = "prometheus", .problem = "expired"})).has_value());
  CHECK_FALSE(certificate_user(request_of({.common_name = "", .verified_by = {"clients"}})).has_value());
  CHECK_FALSE(certificate_user(http::Request()).has_value());
}

TEST_CASE("the client that pays for questions is an address of IPv4, or a network of IPv6") {
  http::Request request;
  CHECK(network_of(request) == "");
  for (const auto& [address, network] : {std::pair("10.0.0.7", "10.0.0.7"), {"fd00:0:0:1::7", "fd00:0:0:1::/64"}}) {
    request.tls = std::make_shared<const http::TlsPeer>(http::TlsPeer{.version = "TLSv1.3", .address = address});
    CHECK(network_of(request) == network);
  }
}

TEST_CASE("without reviews a verified certificate is required, and refusals are counted") {
  const auto counters = std::make_shared<GuardCounters>();
  const http::Guard guard = certificate_guard(counters);
  CHECK(status_of(guard, request_of({.common_name = "a", .verified_by = {"clients"}})) == 200);
  CHECK(status_of(guard, request_of({.common_name = "a", .problem = "certificate has expired"})) == 401);
  CHECK(status_of(guard, request_with("Bearer abc")) == 401);
  CHECK(counters->unauthenticated == 2);
}
