// SPDX-License-Identifier: Apache-2.0
#include "core/manager/api_access.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "core/kube/connection_config.hpp"
#include "core/kubeauth/front_proxy.hpp"
#include "core/log/capture.hpp"
#include "test/support/certificate_folder.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::manager;
using namespace koord::test;

namespace {

std::string with_another_name(const std::string& config_map) {
  boost::json::value object = boost::json::parse(config_map);
  object.at("data").as_object()["requestheader-allowed-names"] = R"(["another"])";
  return boost::json::serialize(object);
}

// The parts of a starting replica.
struct Start {
  Start() {
    certificates.authority("ca");
    certificates.issue("ca", "server", "/CN=koord-manager", "subjectAltName=DNS:koord-manager");
    auto opened = http::TlsServer::open({.certificate_file = certificates.pem("server"),
                                         .key_file = certificates.key("server"),
                                         .clients_come_later = true});
    REQUIRE(opened);
    tls = *opened;
  }
  void take_certificate_away() { std::filesystem::rename(certificates.pem("server"), certificates.path("away")); }
  void put_certificate_back() { std::filesystem::rename(certificates.path("away"), certificates.pem("server")); }
  ApiAccess access() {
    return ApiAccess({here.loop, here.workers, clock, *tls}, *kube::find_config(cluster.kubeconfig()),
                     std::chrono::seconds(10));
  }

  TestCluster cluster;
  CertificateFolder certificates;
  std::shared_ptr<http::TlsServer> tls;
  LoopHere here;
  SystemClock clock;
};

// Returns the status of the answer to a request; by default it has no credentials.
unsigned status_of(ApiAccess& access, const http::Request& request = {}) {
  unsigned status = 0;
  access.access().authenticate(request, [&](const aggregated::Outcome<aggregated::Identity>& outcome) {
    status = outcome ? 200 : outcome.error().code;
  });
  return status;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("settings of clients that came while the certificate was missing are used once it is there again") {
  Start start;
  ApiAccess access = start.access();
  REQUIRE(start.here.until([&] { return access.problem().empty(); }));
  const std::uint64_t loaded = start.tls->generation();

  start.take_certificate_away();
  start.cluster.put(
      with_another_name(*start.cluster.get("ConfigMap", "extension-apiserver-authentication", "kube-system")));
  REQUIRE(start.here.until([&] { return has(access.problem(), "server.pem"); }));
  CHECK(status_of(access) == 401);
  start.put_certificate_back();
  CHECK(start.here.until([&] { return access.problem().empty(); }));
  CHECK(start.tls->generation() == loaded + 1);
}

TEST_CASE("a request without a token is answered with 503 until the first settings are in use, or found missing") {
  Start start;
  start.take_certificate_away();
  {
    ApiAccess access = start.access();
    CHECK(status_of(access) == 503);
    REQUIRE(start.here.until([&] { return has(access.problem(), "server.pem"); }));
    CHECK(status_of(access) == 503);
    start.put_certificate_back();
    REQUIRE(start.here.until([&] { return access.problem().empty(); }));
    CHECK(status_of(access) == 401);
  }
  start.cluster.remove("ConfigMap", "extension-apiserver-authentication", "kube-system");
  ApiAccess access = start.access();
  CHECK(status_of(access) == 503);
  REQUIRE(start.here.until([&] { return has(access.problem(), "is missing"); }));
  CHECK(status_of(access) == 401);
}

TEST_CASE("a problem with the watch is named while settings of clients are tried again") {
  Start start;
  ApiAccess access = start.access();
  REQUIRE(start.here.until([&] { return access.problem().empty(); }));
  start.take_certificate_away();
  start.cluster.put(
      with_another_name(*start.cluster.get("ConfigMap", "extension-apiserver-authentication", "kube-system")));
  REQUIRE(start.here.until([&] { return has(access.problem(), "server.pem"); }));
  start.cluster.fault("down");
  REQUIRE(start.here.until([&] { return !has(access.problem(), "server.pem"); }));
  const std::uint64_t loaded = start.tls->generation();
  start.put_certificate_back();
  REQUIRE(start.here.until([&] { return start.tls->generation() > loaded; }));
  CHECK_FALSE(access.problem().empty());
  start.cluster.clear_faults();
  CHECK(start.here.until([&] { return access.problem().empty(); }));
}

TEST_CASE("a request of the front proxy without a user is called that, and an empty header of others is no claim") {
  Start start;
  ApiAccess access = start.access();
  REQUIRE(start.here.until([&] { return access.problem().empty(); }));
  http::Request request;
  request.headers = {{"X-Remote-User", " "}};
  request.tls = std::make_shared<http::TlsPeer>(http::TlsPeer{"TLSv1.3"});
  log::Capture capture;
  CHECK(status_of(access, request) == 401);
  CHECK(capture.lines().empty());
  request.headers = {{"X-Remote-User", "admin\x1b[m" + std::string(1000, 'x')}};
  CHECK(status_of(access, request) == 401);
  REQUIRE(capture.lines().size() == 1);
  CHECK(has(capture.lines()[0], "a client without the front proxy's certificate says that it is 'admin\\x1b[mxx"));
  CHECK(capture.lines()[0].size() < 500);
  request.headers = {{"X-Remote-User", ""}};
  http::TlsPeer proxy{"TLSv1.3", http::PeerCertificate{"front-proxy-client"}};
  proxy.certificate->verified_by = {kubeauth::kProxyAuthorities};
  request.tls = std::make_shared<http::TlsPeer>(std::move(proxy));
  CHECK(status_of(access, request) == 401);
  REQUIRE(capture.lines().size() == 2);
  CHECK(has(capture.lines()[1], "the front proxy names no user: header 'X-Remote-User' is empty"));
}
