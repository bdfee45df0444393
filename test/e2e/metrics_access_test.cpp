// SPDX-License-Identifier: Apache-2.0
// The agent's metrics port with TLS and authorization, read with curl and openssl s_client, as its users do.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "core/workshop/node_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/certificate_folder.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const CertificateFolder& certificates() {
  static const auto all = [] {
    auto made = std::make_unique<CertificateFolder>();
    for (const char* authority : {"ca", "client-ca", "third-party"}) made->authority(authority);
    made->issue("ca", "server", "/CN=server", "subjectAltName=IP:127.0.0.1");
    made->issue("ca", "server2", "/CN=server2", "subjectAltName=IP:127.0.0.1");
    made->issue("client-ca", "client", "/O=monitoring/CN=scraper", "extendedKeyUsage=clientAuth");
    made->issue("third-party", "foreign", "/O=system:masters/CN=scraper", "extendedKeyUsage=clientAuth");
    made->issue_expired("client-ca", "expired", "/CN=scraper");
    return made;
  }();
  return *all;
}

// An agent with TLS on its metrics port, and its cluster.
struct SecureAgent {
  SecureAgent() {
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    use("server");
    agent.emplace("roots: {cgroup: \"" + tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" + cluster.kubeconfig() +
                  "\"}\nstate: {source: cgroup}\n");
    cluster.command("set_token", R"({"token":"good","username":"prometheus"})");
    cluster.command("set_token", R"({"token":"other","username":"nobody-special"})");
    cluster.command("set_token", R"({"token":"expired","username":"prometheus","expired":true})");
    cluster.command("set_token", R"({"token":"elsewhere","username":"prometheus","audiences":["vault"]})");
    cluster.command("allow", R"({"user":"prometheus","verbs":["get"],"paths":["/metrics"]})");
    cluster.command("allow", R"({"group":"monitoring","verbs":["get"],"paths":["/metrics"]})");
  }
  // Replaces the agent's certificate and key by the files with this name.
  void use(const std::string& name) const {
    constexpr auto kOver = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(certificates().pem(name), tree.path("tls.pem"), kOver);
    std::filesystem::copy_file(certificates().key(name), tree.path("tls.key"), kOver);
  }
  bool start(const std::string& authorization, bool with_client_ca = true) {
    std::vector<std::string> arguments{"--set", "listen.tls.certFile=" + tree.path("tls.pem"),
                                       "--set", "listen.tls.keyFile=" + tree.path("tls.key"),
                                       "--set", "listen.tls.authorization=" + authorization};
    if (with_client_ca)
      arguments.insert(arguments.end(), {"--set", "listen.tls.clientCaFile=" + certificates().pem("client-ca")});
    return agent->start(arguments);
  }
  std::string shell(const std::string& command) const { return run_to_end({"/bin/sh", "-c", command}).output; }
  // Returns status and body.
  std::string curl(const std::string& options = {}, const std::string& path = "/metrics") const {
    return shell("curl -s -m 30 -w '\\n%{http_code}' --cacert '" + certificates().pem("ca") + "' " + options +
                 " 'https://" + agent->tcp_address() + path + "'");
  }
  std::string status(const std::string& options = {}, const std::string& path = "/metrics") const {
    const std::string answer = curl(options, path);
    return answer.substr(answer.rfind('\n') + 1);
  }
  static std::string token(const std::string& text) { return "-H 'Authorization: Bearer " + text + "'"; }
  static std::string certificate(const std::string& name) {
    return "--cert '" + certificates().pem(name) + "' --key '" + certificates().key(name) + "'";
  }
  double refused(const std::string& reason) const {
    return find_metric(agent->metrics(), "koordetector_http_unauthorized_requests_total", {"reason=\"" + reason + "\""})
        .value_or(0);
  }

  NodeTree tree;
  TestCluster cluster;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE("a token's user reads /metrics only if the API server allows it") {
  SecureAgent secure;
  REQUIRE(secure.start("kubernetes"));
  const std::string page = secure.curl(SecureAgent::token("good"));
  CHECK_MESSAGE(contains(page, "koordetector_host_info"), page);
  CHECK(secure.status(SecureAgent::token("good")) == "200");
  CHECK(secure.status(SecureAgent::token("other")) == "403");
  CHECK(secure.status(SecureAgent::token("good"), "/healthz") == "403");
  for (const char* token : {"expired", "elsewhere", "unknown", "two words", ""}) {
    CAPTURE(token);
    CHECK(secure.status(SecureAgent::token(token)) == "401");
  }
  CHECK(secure.status("-u prometheus:good") == "401");
  CHECK(secure.status() == "401");
  CHECK(contains(secure.shell("curl -s -i --cacert '" + certificates().pem("ca") + "' 'https://" +
                              secure.agent->tcp_address() + "/metrics'"),
                 "WWW-Authenticate: Bearer"));
  CHECK(eventually([&] { return secure.refused("forbidden") == 2; }));
  CHECK(eventually([&] { return secure.refused("unauthenticated") == 8; }));
}

TEST_CASE("forged headers of a proxy do not authenticate a user") {
  SecureAgent secure;
  REQUIRE(secure.start("kubernetes"));
  const std::string forged =
      "-H 'X-Remote-User: prometheus' -H 'X-Remote-Group: system:masters' -H 'X-Remote-Extra-Scopes: x' ";
  CHECK(secure.status(forged) == "401");
  CHECK(secure.status(forged + SecureAgent::token("other")) == "403");
  CHECK(secure.status(forged + SecureAgent::certificate("foreign")) == "401");
  CHECK(secure.cluster.requests(R"({"kind":"SubjectAccessReview"})").size() == 1);
}

TEST_CASE(
    "a client certificate authenticates a user with groups; an expired or unknown one is refused with the reason") {
  SecureAgent secure;
  REQUIRE(secure.start("kubernetes"));
  CHECK(secure.status(SecureAgent::certificate("client")) == "200");
  const std::string foreign = secure.curl(SecureAgent::certificate("foreign"));
  CHECK_MESSAGE(contains(foreign, "unable to get local issuer certificate"), foreign);
  CHECK(contains(foreign, "\n401"));
  const std::string expired = secure.curl(SecureAgent::certificate("expired"));
  CHECK_MESSAGE(contains(expired, "certificate has expired"), expired);
  CHECK(contains(expired, "\n401"));
  // A valid token is accepted even with an invalid certificate.
  CHECK(secure.status(SecureAgent::certificate("expired") + " " + SecureAgent::token("good")) == "200");
}

TEST_CASE("while the API server does not answer, users of the last seconds are served and all others get 503") {
  SecureAgent secure;
  REQUIRE(secure.start("kubernetes"));
  REQUIRE(secure.status(SecureAgent::token("good")) == "200");
  secure.cluster.fault("down");
  CHECK(secure.status(SecureAgent::token("good")) == "200");
  CHECK(secure.status(SecureAgent::token("other")) == "503");
  CHECK(secure.status(SecureAgent::certificate("client")) == "503");
  CHECK(secure.status() == "401");
  CHECK(eventually([&] { return secure.refused("unavailable") >= 2; }));
  CHECK(contains(secure.agent->get("/readyz"), "metrics port: degraded"));
  CHECK(eventually([&] { return secure.status(SecureAgent::token("good")) == "503"; }));
  secure.cluster.clear_faults();
  CHECK(eventually([&] { return secure.status(SecureAgent::token("good")) == "200"; }));
  CHECK(contains(secure.agent->get("/readyz"), "metrics port: ok"));
}

TEST_CASE(
    "if the API server denies the agent its reviews, all requests are refused, and the log names the missing right") {
  SecureAgent secure;
  REQUIRE(secure.start("kubernetes"));
  secure.cluster.fault("deny");
  CHECK(secure.status(SecureAgent::token("good")) == "503");
  CHECK_MESSAGE(contains(secure.agent->log(), "expected the right to create tokenreviews"), secure.agent->log());
}

TEST_CASE("openssl s_client reads the page over TLS 1.2 and 1.3; plain HTTP and older versions are refused") {
  SecureAgent secure;
  REQUIRE(secure.start("kubernetes"));
  const std::string address = secure.agent->tcp_address();
  const std::string request =
      "printf 'GET /metrics HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer good\\r\\nConnection: close\\r\\n\\r\\n' | "
      "timeout 20 openssl s_client -quiet -ign_eof -connect " +
      address + " ";
  for (const char* version : {"-tls1_2", "-tls1_3"})
    CHECK(contains(secure.shell(request + version + " 2>&1"), "koordetector_host_info"));
  for (const char* version : {"-tls1", "-tls1_1"})
    CHECK_FALSE(
        contains(secure.shell(request + version + " -cipher DEFAULT@SECLEVEL=0 2>&1"), "koordetector_host_info"));
  CHECK(contains(secure.shell("curl -s -i http://" + address + "/metrics"), "400 Bad Request"));
  const auto failed = [&] {
    return find_metric(secure.agent->metrics(), "koordetector_http_failed_handshakes_total").value_or(0);
  };
  CHECK(eventually([&] { return failed() == 3; }));
}

TEST_CASE("a replaced certificate is used without a restart; an invalid one is reported and has no effect") {
  SecureAgent secure;
  REQUIRE(secure.start("none", false));
  const auto subject = [&] {
    return secure.shell("openssl s_client -connect " + secure.agent->tcp_address() +
                        " </dev/null 2>/dev/null | openssl x509 -noout -subject -nameopt oneline");
  };
  REQUIRE(contains(subject(), "CN = server\n"));
  secure.use("server2");
  CHECK(eventually([&] { return contains(subject(), "CN = server2\n"); }));
  std::ofstream(secure.tree.path("tls.pem")) << "nonsense\n";
  CHECK(eventually([&] { return contains(secure.agent->log(), "tls.pem': no start line"); }));
  CHECK(contains(subject(), "CN = server2\n"));
  CHECK(contains(secure.agent->get("/readyz"), "metrics port: degraded"));
  secure.use("server");
  CHECK(eventually([&] { return contains(subject(), "CN = server\n"); }));
  CHECK(eventually([&] { return contains(secure.agent->get("/readyz"), "metrics port: ok"); }));
}

TEST_CASE("without authorization everyone can read the page; with client authorities, everyone with a certificate") {
  SecureAgent open;
  REQUIRE(open.start("none", false));
  CHECK(open.status() == "200");
  SecureAgent closed;
  REQUIRE(closed.start("none"));
  CHECK(closed.status() == "401");
  CHECK(closed.status(SecureAgent::token("good")) == "401");
  CHECK(closed.status(SecureAgent::certificate("client")) == "200");
  CHECK(closed.status(SecureAgent::certificate("foreign")) == "401");
  CHECK(closed.cluster.requests(R"({"kind":"TokenReview"})").empty());
}

TEST_CASE("an agent with an unusable certificate ends and names the file") {
  SecureAgent secure;
  std::filesystem::remove(secure.tree.path("tls.key"));
  secure.agent->launch({"--set", "listen.tls.certFile=" + secure.tree.path("tls.pem"), "--set",
                        "listen.tls.keyFile=" + secure.tree.path("tls.key")});
  REQUIRE(secure.agent->process().wait(std::chrono::minutes(1)).has_value());
  CHECK_MESSAGE(contains(secure.agent->log(), "listen.tls: cannot open '" + secure.tree.path("tls.key")),
                secure.agent->log());
}
