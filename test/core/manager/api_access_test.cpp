// SPDX-License-Identifier: Apache-2.0
#include "core/manager/api_access.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "core/kube/connection_config.hpp"
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

}  // namespace

TEST_CASE("settings of clients that came while the certificate was missing are used once it is there again") {
  TestCluster cluster;
  CertificateFolder certificates;
  certificates.authority("ca");
  certificates.issue("ca", "server", "/CN=koord-manager", "subjectAltName=DNS:koord-manager");
  auto tls = http::TlsServer::open({.certificate_file = certificates.pem("server"),
                                    .key_file = certificates.key("server"),
                                    .clients_come_later = true});
  REQUIRE(tls);
  LoopHere here;
  SystemClock clock;
  ApiAccess access({here.loop, here.workers, clock, **tls}, *kube::find_config(cluster.kubeconfig()),
                   std::chrono::seconds(10));
  REQUIRE(here.until([&] { return access.problem().empty(); }));
  const std::uint64_t loaded = (*tls)->generation();

  std::filesystem::rename(certificates.pem("server"), certificates.path("away"));
  cluster.put(with_another_name(*cluster.get("ConfigMap", "extension-apiserver-authentication", "kube-system")));
  REQUIRE(here.until([&] { return access.problem().find("server.pem") != std::string::npos; }));
  std::filesystem::rename(certificates.path("away"), certificates.pem("server"));
  CHECK(here.until([&] { return access.problem().empty(); }));
  CHECK((*tls)->generation() == loaded + 1);
}
