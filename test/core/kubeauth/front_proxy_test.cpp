// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/front_proxy.hpp"

#include <doctest/doctest.h>

#include "core/kubeauth/guard.hpp"

using namespace koord;
using namespace koord::kubeauth;

namespace {

const FrontProxy kProxy{.client_ca = "users",
                        .proxy_ca = "proxy",
                        .allowed_names = {"front-proxy-client"},
                        .user_headers = {"X-Remote-User"},
                        .uid_headers = {"X-Remote-Uid"},
                        .group_headers = {"X-Remote-Group"},
                        .extra_prefixes = {"X-Remote-Extra-"}};

http::Request request_of(const std::string& common_name, std::vector<std::string> verified_by,
                         http::Headers headers = {{"X-Remote-User", "ann"}}) {
  http::Request request;
  request.headers = std::move(headers);
  http::TlsPeer::Certificate certificate{.common_name = common_name, .verified_by = std::move(verified_by)};
  request.tls = std::make_shared<const http::TlsPeer>(http::TlsPeer{"TLSv1.3", std::move(certificate)});
  return request;
}

http::Request proxied(http::Headers headers) {
  return request_of("front-proxy-client", {kProxyAuthorities}, std::move(headers));
}

std::string config_map(const std::string& data) { return R"({"kind":"ConfigMap","data":{)" + data + "}}"; }

}  // namespace

TEST_CASE("the front proxy names the user, its groups, uid and extra values") {
  const auto user = front_proxy_user(proxied({{"x-remote-user", "ann"},
                                              {"X-Remote-Uid", "7"},
                                              {"X-Remote-Group", "a"},
                                              {"X-REMOTE-GROUP", "b"},
                                              {"X-Remote-Extra-Scopes", "one"},
                                              {"X-Remote-Extra-scopes", "two"},
                                              {"X-Remote-Extra-Authentication.kubernetes.io%2fNode-Name", "node-1"},
                                              {"X-Remote-Extra-", "none"},
                                              {"Authorization", "Bearer x"}}),
                                     kProxy);
  REQUIRE(user.has_value());
  CHECK(user->user == "ann");
  CHECK(user->uid == "7");
  CHECK(user->groups == std::vector<std::string>{"a", "b", "system:authenticated"});
  CHECK(user->extra.at("scopes") == std::vector<std::string>{"one", "two"});
  CHECK(user->node_name() == "node-1");
  CHECK(user->extra.size() == 2);
}

TEST_CASE("headers of the front proxy mean nothing without its certificate") {
  CHECK_FALSE(front_proxy_user(request_of("front-proxy-client", {}), kProxy).has_value());
  CHECK_FALSE(front_proxy_user(request_of("front-proxy-client", {kClientAuthorities}), kProxy).has_value());
  CHECK_FALSE(front_proxy_user(request_of("another", {kProxyAuthorities}), kProxy).has_value());
  http::Request plain;
  plain.headers = {{"X-Remote-User", "ann"}};
  CHECK_FALSE(front_proxy_user(plain, kProxy).has_value());
  http::Request no_certificate = plain;
  no_certificate.tls = std::make_shared<const http::TlsPeer>(http::TlsPeer{"TLSv1.3"});
  CHECK_FALSE(front_proxy_user(no_certificate, kProxy).has_value());
}

TEST_CASE("without a list of names any certificate of the front proxy's authority counts") {
  FrontProxy any = kProxy;
  any.allowed_names.clear();
  CHECK(front_proxy_user(request_of("another", {kProxyAuthorities}), any).has_value());
}

TEST_CASE("the front proxy without a user's name names none") {
  CHECK_FALSE(front_proxy_user(proxied({{"X-Remote-Group", "system:masters"}}), kProxy).has_value());
  CHECK_FALSE(front_proxy_user(proxied({{"X-Remote-User", " "}, {"X-Remote-Group", "a"}}), kProxy).has_value());
  CHECK_FALSE(front_proxy_user(proxied({{"X-Remote-User", "ann"}}), FrontProxy()).has_value());
}

TEST_CASE("an anonymous client stays anonymous") {
  const auto user = front_proxy_user(
      proxied({{"X-Remote-User", "system:anonymous"}, {"X-Remote-Group", "system:unauthenticated"}}), kProxy);
  REQUIRE(user.has_value());
  CHECK(user->groups == std::vector<std::string>{"system:unauthenticated"});
}

TEST_CASE("a broken escape in the key of an extra value stays as it is") {
  const auto user = front_proxy_user(
      proxied({{"X-Remote-User", "ann"}, {"X-Remote-Extra-Bad%2", "1"}, {"X-Remote-Extra-%00", "2"}}), kProxy);
  REQUIRE(user.has_value());
  CHECK(user->extra.contains("bad%2"));
  CHECK(user->extra.contains("%00"));
}

TEST_CASE("the settings are read from the ConfigMap, and a missing key is empty") {
  const auto proxy = parse_front_proxy(config_map(
      R"("client-ca-file":"users","requestheader-client-ca-file":"proxy",
         "requestheader-allowed-names":"[\"front-proxy-client\"]","requestheader-username-headers":"[\"X-Remote-User\"]",
         "requestheader-uid-headers":"[\"X-Remote-Uid\"]","requestheader-group-headers":"[\"X-Remote-Group\"]",
         "requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]")"));
  REQUIRE(proxy);
  CHECK(*proxy == kProxy);
  const auto authorities = authorities_of(*proxy);
  REQUIRE(authorities.size() == 2);
  CHECK(authorities[0].name == kClientAuthorities);
  CHECK(authorities[1].name == kProxyAuthorities);
  const auto empty = parse_front_proxy(config_map(""));
  REQUIRE(empty);
  CHECK(*empty == FrontProxy());
  CHECK(authorities_of(*empty).empty());
}

TEST_CASE("settings that cannot be read are an error that names the key") {
  for (const char* value : {"x", "{}", "[1]", "[\\\"\\\"]", "\\\"X-Remote-User\\\""}) {
    CAPTURE(value);
    const auto proxy =
        parse_front_proxy(config_map(std::string(R"("requestheader-username-headers":")") + value + "\""));
    REQUIRE_FALSE(proxy);
    CHECK(proxy.error().message().find("requestheader-username-headers") != std::string::npos);
  }
  CHECK_FALSE(parse_front_proxy("no JSON"));
  CHECK_FALSE(parse_front_proxy(R"({"data":[]})"));
  CHECK_FALSE(parse_front_proxy(config_map(R"("client-ca-file":1)")));
}
