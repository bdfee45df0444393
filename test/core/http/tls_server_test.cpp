// SPDX-License-Identifier: Apache-2.0
// The TLS server with real clients: the agent's own, curl, openssl s_client, and peers that send invalid bytes.
#include "core/http/tls_server.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "core/http/async_client.hpp"
#include "core/http/client.hpp"
#include "running_server.hpp"
#include "test/support/certificate_folder.hpp"
#include "test/support/eventually.hpp"
#include "test/support/loop_here.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// Certificate authorities and certificates for all tests.
const CertificateFolder& certificates() {
  static const auto all = [] {
    auto made = std::make_unique<CertificateFolder>();
    for (const char* authority : {"ca", "client-ca", "proxy-ca", "third-party"}) made->authority(authority);
    made->issue("ca", "server", "/CN=server", "subjectAltName=IP:127.0.0.1");
    made->issue("ca", "server2", "/CN=server2", "subjectAltName=IP:127.0.0.1");
    made->issue("client-ca", "client", "/O=monitoring/O=readers/CN=prometheus", "extendedKeyUsage=clientAuth");
    made->issue("client-ca", "two-names", "/CN=admin/CN=prometheus", "extendedKeyUsage=clientAuth");
    made->issue("client-ca", "for-servers", "/CN=prometheus", "extendedKeyUsage=serverAuth");
    made->issue("third-party", "foreign", "/CN=prometheus", "extendedKeyUsage=clientAuth");
    made->issue("proxy-ca", "proxy", "/CN=front-proxy", "extendedKeyUsage=clientAuth");
    made->issue_expired("client-ca", "expired", "/CN=prometheus");
    return made;
  }();
  return *all;
}

// Returns "user of groups by authorities", or the problem.
std::string describe(const http::Request& request) {
  if (!request.tls) return "plain";
  if (!request.tls->certificate) return "nobody";
  const auto& found = *request.tls->certificate;
  if (!found.problem.empty()) return "problem: " + found.problem;
  std::string text = found.common_name;
  for (const std::string& group : found.organizations) text += " of " + group;
  for (const std::string& name : found.verified_by) text += " by " + name;
  return text;
}

http::Routes routes() {
  http::Routes routes;
  routes.get("/who", [](const http::Request& request) { return http::plain_text(200, describe(request)); });
  routes.get("/from", [](const http::Request& request) { return http::plain_text(200, request.tls->address); });
  routes.get("/large", [](const http::Request&) { return http::Response{.body = std::string(5u << 20, 'x')}; });
  routes.post("/size",
              [](const http::Request& request) { return http::plain_text(200, std::to_string(request.body.size())); });
  return routes;
}

struct SecureServer {
  // Holds copies of the files, which the test replaces.
  SocketFolder folder;
  std::shared_ptr<http::TlsServer> tls;
  RunningServer server;
  std::string address;

  explicit SecureServer(http::Limits limits = {}) : server(routes(), limits) {
    copy("server", "tls");
    std::filesystem::copy_file(certificates().pem("client-ca"), folder.path("clients.pem"));
    auto opened = http::TlsServer::open({.certificate_file = folder.path("tls.pem"),
                                         .key_file = folder.path("tls.key"),
                                         .clients = {{.name = "clients", .file = folder.path("clients.pem")},
                                                     {.name = "proxy", .file = certificates().pem("proxy-ca")}}});
    REQUIRE_MESSAGE(opened, opened.error().message());
    tls = *opened;
    address = "127.0.0.1:" + std::to_string(server->listen_tls("127.0.0.1:0", tls).value());
  }
  void copy(const std::string& from, const std::string& to) const {
    for (const auto& [name, ending] :
         {std::pair(certificates().pem(from), ".pem"), std::pair(certificates().key(from), ".key")}) {
      std::filesystem::copy_file(name, folder.path(to + ".new"));
      std::filesystem::rename(folder.path(to + ".new"), folder.path(to + ending));
    }
  }
  // Returns the body without its newline, or the error.
  std::string ask(const std::string& client = {}, const std::string& target = "/who") const {
    http::TlsOptions options{.ca_file = certificates().pem("ca"), .server_name = "127.0.0.1"};
    if (!client.empty()) {
      options.certificate_file = certificates().pem(client);
      options.key_file = certificates().key(client);
    }
    auto response = http::get(address, target, {.timeout = 20s, .max_body = 16u << 20, .tls = options});
    if (!response) return response.error().message();
    return response->body.substr(0, response->body.find('\n'));
  }
  std::string curl(const std::string& options) const {
    return run_to_end({"/bin/sh", "-c", "curl -s -m 20 --cacert '" + certificates().pem("ca") + "' " + options}).output;
  }
  std::string s_client(const std::string& options, const std::string& input = "") const {
    return run_to_end({"/bin/sh", "-c",
                       "printf '" + input + "' | timeout 20 openssl s_client -connect " + address + " -CAfile '" +
                           certificates().pem("ca") + "' " + options + " 2>&1"})
        .output;
  }
  std::uint64_t failed() { return server->counters().failed_handshakes; }
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a client gets its answer over TLS, and the handler the name of the client") {
  const SecureServer secure;
  CHECK(secure.ask() == "nobody");
  CHECK(secure.ask("client") == "prometheus of monitoring of readers by clients");
  CHECK(secure.ask("proxy") == "front-proxy by proxy");
}

TEST_CASE("a client has an address, which is that of IPv4 also on a socket for both") {
  SecureServer secure;
  CHECK(secure.ask({}, "/from") == "127.0.0.1");
  secure.address = "127.0.0.1:" + std::to_string(secure.server->listen_tls(":0", secure.tls).value());
  CHECK(secure.ask({}, "/from") == "127.0.0.1");
}

TEST_CASE("a certificate that cannot be verified leaves a client without a name, and says why") {
  const SecureServer secure;
  CHECK(secure.ask("foreign") == "problem: unable to get local issuer certificate");
  CHECK(secure.ask("expired") == "problem: certificate has expired");
  CHECK(has(secure.ask("for-servers"), "certificate purpose"));
  CHECK(secure.ask("two-names") == "problem: found 2 common names in its subject, expected one");
}

TEST_CASE("curl reads a page of megabytes and keeps its connection for the next request") {
  const SecureServer secure;
  const std::string url = "https://" + secure.address;
  CHECK(secure.curl("-o /dev/null -w '%{http_code} %{size_download} %{ssl_verify_result}' " + url + "/large") ==
        "200 5242880 0");
  CHECK(has(secure.curl("-v -o /dev/null -o /dev/null " + url + "/who " + url + "/who 2>&1"), "Re-using existing"));
  CHECK(secure.curl("--compressed " + url + "/large | wc -c") == "5242880\n");
  CHECK(secure.curl("-X POST --data-binary 12345 " + url + "/size") == "5\n");
}

TEST_CASE("only TLS 1.2 and 1.3 are spoken, with forward secrecy") {
  SecureServer secure;
  CHECK(has(secure.s_client("-tls1_3"), "TLSv1.3"));
  CHECK(has(secure.s_client("-tls1_2"), "ECDHE-ECDSA-AES"));
  for (const char* version : {"-tls1", "-tls1_1"}) {
    const std::string refused = secure.s_client(std::string(version) + " -cipher 'DEFAULT@SECLEVEL=0'");
    CHECK_MESSAGE(has(refused, "alert protocol version"), refused);
  }
  const std::string weak = secure.s_client("-tls1_2 -cipher 'AES128-SHA:AES256-GCM-SHA384'");
  CHECK_MESSAGE(has(weak, "handshake failure"), weak);
  REQUIRE(eventually([&] { return secure.failed() == 3; }));
  CHECK(secure.ask() == "nobody");
}

TEST_CASE("http/1.1 is the one protocol of ALPN") {
  const SecureServer secure;
  CHECK(has(secure.s_client("-alpn h2,http/1.1"), "ALPN protocol: http/1.1"));
  CHECK(has(secure.s_client("-alpn h2"), "no application protocol"));
}

TEST_CASE("a client that asks to renegotiate or resume gets neither") {
  const SecureServer secure;
  CHECK_FALSE(has(secure.s_client("-tls1_2 -reconnect"), "Reused"));
  CHECK(has(secure.s_client("-tls1_2 -legacy_renegotiation", "R\\n"), "no renegotiation"));
  CHECK(secure.ask() == "nobody");
}

TEST_CASE("a plain HTTP request is answered with 400 in plain HTTP") {
  SecureServer secure;
  RawPeer peer(secure.address);
  peer.send(get_request("/who"));
  const std::string answer = peer.read_to_end();
  CHECK_MESSAGE(has(answer, "400 Bad Request"), answer);
  CHECK(has(answer, "this is an https port"));
  CHECK(secure.failed() == 1);
}

TEST_CASE("garbage instead of a handshake ends its connection and nothing else") {
  SecureServer secure;
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\xff\xff", 5), std::string(300, '\0'), std::string("\x80\x2e\x01\x03\x01", 5),
        std::string("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10), std::string(100'000, '\xff')}) {
    RawPeer peer(secure.address);
    peer.send(bytes);
    peer.send(std::string(70'000, 'a'));
    (void)peer.read_to_end();
  }
  CHECK(secure.ask() == "nobody");
  CHECK(eventually([&] { return secure.failed() == 5; }));
  CHECK(eventually([&] { return secure.server->counters().open_connections == 0; }));
}

TEST_CASE("two hundred handshakes that never go on leave room for a client, and end by themselves") {
  SecureServer secure(http::Limits{.handshake = 2s});
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 200; ++i) {
    peers.push_back(std::make_unique<RawPeer>(secure.address));
    peers.back()->send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  }
  CHECK(secure.ask() == "nobody");
  CHECK(secure.ask("client") == "prometheus of monitoring of readers by clients");
  CHECK(secure.server->counters().open_connections <= http::Limits().connections_of_peer);
  CHECK(eventually([&] { return secure.server->counters().open_connections == 0; }));
}

TEST_CASE("a client that sends its handshake byte by byte has no more time than others") {
  SecureServer secure(http::Limits{.handshake = 300ms});
  RawPeer peer(secure.address);
  peer.send("\x16");
  CHECK(peer.read_to_end().empty());
  CHECK(secure.failed() == 1);
}

TEST_CASE("slow requests and idle connections end as without TLS") {
  SecureServer secure(http::Limits{.idle = 1s, .read = 300ms});
  CHECK_FALSE(has(secure.s_client("-quiet", "GET /who HTTP/1.1\\r\\nHost: x\\r\\nA: b"), "200 OK"));
  CHECK_FALSE(has(secure.s_client("-quiet"), "200 OK"));
  CHECK(eventually([&] { return secure.server->counters().open_connections == 0; }));
}

TEST_CASE("large headers and endless bodies are refused as without TLS") {
  const SecureServer secure;
  const std::string url = "https://" + secure.address;
  const std::string endless = run_to_end({"/bin/sh", "-c",
                                          "yes | curl -s -i -m 20 --cacert '" + certificates().pem("ca") +
                                              "' -X POST -T - -H Expect: " + url + "/size | head -1"})
                                  .output;
  CHECK_MESSAGE(has(endless, "413"), endless);
  CHECK(has(secure.curl("-i -H 'Big: " + std::string(9000, 'x') + "' " + url + "/who | head -1"), "431"));
  CHECK(secure.ask() == "nobody");
}

TEST_CASE("a peer that never reads its answer costs no more than the buffer, and is ended") {
  SecureServer secure(http::Limits{.write = 500ms});
  ChildProcess client(
      {"/bin/sh", "-c",
       "(printf 'GET /large HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; sleep 20) | openssl s_client -quiet -connect " +
           secure.address + " | sleep 20"},
      "/dev/null");
  REQUIRE(eventually([&] { return secure.server->counters().requests == 1; }));
  CHECK(secure.ask() == "nobody");
  CHECK(eventually([&] { return secure.server->counters().open_connections == 0; }));
}

TEST_CASE("a replaced certificate is used by new connections") {
  SecureServer secure;
  const auto shown = [&] { return secure.s_client("-showcerts -nameopt oneline"); };
  REQUIRE(has(shown(), "subject=CN = server\n"));
  secure.copy("server2", "tls");
  CHECK(eventually([&] { return has(shown(), "subject=CN = server2\n"); }));
  CHECK(secure.tls->problem().empty());
}

TEST_CASE(
    "a bad file keeps the last good certificate, and the problem names the file until it is replaced by a good one") {
  SecureServer secure;
  std::filesystem::copy_file(certificates().key("client"), secure.folder.path("tls.key"),
                             std::filesystem::copy_options::overwrite_existing);
  REQUIRE(eventually([&] { return secure.ask() == "nobody" && !secure.tls->problem().empty(); }));
  CHECK_MESSAGE(has(secure.tls->problem(), "tls.key': key values mismatch"), secure.tls->problem());
  std::ofstream(secure.folder.path("tls.pem")) << "-----BEGIN CERTIFICATE-----\nnonsense\n";
  REQUIRE(eventually([&] { return secure.ask() == "nobody" && has(secure.tls->problem(), "tls.pem"); }));
  std::filesystem::remove(secure.folder.path("tls.pem"));
  REQUIRE(eventually([&] { return secure.ask() == "nobody" && has(secure.tls->problem(), "No such file"); }));
  secure.copy("server", "tls");
  CHECK(eventually([&] { return secure.ask() == "nobody" && secure.tls->problem().empty(); }));
}

TEST_CASE("replaced authorities decide about clients that come, and about those that are connected") {
  SecureServer secure;
  REQUIRE(has(secure.ask("client"), "prometheus"));
  std::filesystem::copy_file(certificates().pem("third-party"), secure.folder.path("clients.pem"),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(eventually([&] { return secure.ask("foreign") == "prometheus by clients"; }));
  CHECK(secure.ask("client") == "problem: unable to get local issuer certificate");
}

// A client with kept connections to a server that has no authorities at first.
struct LateAuthorities : LoopHere {
  std::shared_ptr<http::TlsServer> tls;
  RunningServer server;
  std::unique_ptr<http::AsyncClient> client;

  LateAuthorities() : server(guarded()) {
    auto opened = http::TlsServer::open({.certificate_file = certificates().pem("server"),
                                         .key_file = certificates().key("server"),
                                         .clients_come_later = true});
    REQUIRE_MESSAGE(opened, opened.error().message());
    tls = *opened;
  }
  // Only clients with a verified certificate are admitted.
  static http::Routes guarded() {
    http::Routes all = routes();
    all.set_guard([](const http::Request& request, const http::Decide& decide) {
      const bool is_known = request.tls->certificate && request.tls->certificate->problem.empty();
      decide(is_known ? std::nullopt : std::optional(http::plain_text(401, describe(request))));
    });
    return all;
  }
  void connect(const std::string& name) {
    const std::uint16_t port = server->listen_tls("127.0.0.1:0", tls).value();
    http::TlsOptions options{.ca_file = certificates().pem("ca"), .server_name = "127.0.0.1"};
    if (!name.empty()) {
      options.certificate_file = certificates().pem(name);
      options.key_file = certificates().key(name);
    }
    client = std::make_unique<http::AsyncClient>(loop, workers, http::Origin{"127.0.0.1", port, options});
  }
  std::string ask() {
    std::string text;
    const auto pending =
        client->send({.target = "/who", .timeout = 20s}, [&](const Result<http::ClientResponse>& answer) {
          text = answer ? answer->body.substr(0, answer->body.find('\n')) : answer.error().message();
        });
    REQUIRE(until([&] { return !text.empty(); }));
    return text;
  }
  void trust(const std::string& authority) {
    std::promise<void> done;
    server.run_on_loop([&] {
      CHECK(tls->renew_clients({{.name = "clients", .file = certificates().pem(authority)}}));
      done.set_value();
    });
    done.get_future().get();
  }
};

TEST_CASE_FIXTURE(LateAuthorities,
                  "a client is authenticated on its old connection when its authorities appear, and when they change") {
  connect("client");
  CHECK(ask() == "problem: no authorities of clients are known");
  trust("client-ca");
  CHECK(ask() == "prometheus of monitoring of readers by clients");
  trust("third-party");
  CHECK(ask() == "problem: unable to get local issuer certificate");
  trust("client-ca");
  CHECK(ask() == "prometheus of monitoring of readers by clients");
  // The request was refused because the authorities had changed since the handshake. This closed the first
  // connection.
  CHECK(client->connections_opened() == 2);
}

TEST_CASE_FIXTURE(LateAuthorities,
                  "a refusal closes the connection of a client that may show a certificate on its next connection") {
  connect("");
  CHECK(ask() == "nobody");
  CHECK(ask() == "nobody");
  CHECK(client->connections_opened() == 1);
  trust("client-ca");
  CHECK(ask() == "nobody");
  CHECK(ask() == "nobody");
  CHECK(ask() == "nobody");
  CHECK(client->connections_opened() == 2);
}

TEST_CASE("files that cannot be used from the beginning are an error that names them") {
  const auto& all = certificates();
  const auto problem = [](const http::TlsServerOptions& options) {
    const auto opened = http::TlsServer::open(options);
    return opened ? std::string() : opened.error().message();
  };
  CHECK(has(problem({.certificate_file = "/nowhere.pem", .key_file = all.key("server")}), "/nowhere.pem"));
  CHECK(
      has(problem({.certificate_file = all.pem("server"), .key_file = all.key("client")}), "client.key': key values"));
  CHECK(has(problem({.certificate_file = all.pem("server"),
                     .key_file = all.key("server"),
                     .clients = {{.name = "clients", .file = all.key("server")}}}),
            "server.key'"));
}

TEST_CASE("a guard decides on the loop which requests get to their handler") {
  http::Routes guarded = routes();
  guarded.set_guard([](const http::Request& request, const http::Decide& decide) {
    if (request.header("Pass")) return decide(std::nullopt);
    decide(http::plain_text(401, "no"));
  });
  RunningServer server(std::move(guarded));
  RawPeer peer(server.address());
  peer.send(get_request("/who") + get_request("/who", "Pass: x\r\nConnection: close\r\n"));
  const std::string answers = peer.read_to_end();
  CHECK(has(answers, "401 Unauthorized"));
  CHECK(has(answers, "200 OK"));
  CHECK(has(answers, "plain\n"));
}
