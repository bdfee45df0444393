// SPDX-License-Identifier: Apache-2.0
// https against a real server, OpenSSL's s_server, with certificates that the test makes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "core/http/tls_server.hpp"
#include "running_server.hpp"
#include "scripted_server.hpp"
#include "test/support/certificate_folder.hpp"
#include "test/support/child_process.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// An authority, the certificate of a server at 127.0.0.1 and "server.test", a client's certificate, and a page.
struct Certificates : CertificateFolder {
  Certificates() {
    authority("ca");
    authority("third_party");
    issue("ca", "server", "/CN=server", "subjectAltName=IP:127.0.0.1,DNS:server.test");
    issue("ca", "elsewhere", "/CN=elsewhere", "subjectAltName=IP:127.0.0.2");
    issue("ca", "client", "/CN=client", "subjectAltName=DNS:client.test");
    std::ofstream(path("metrics")) << "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nx 1\n";
    std::ofstream(path("large")) << "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" << std::string(200'000, 'x');
    std::ofstream(path("short")) << "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx 1\n";
  }
};

const Certificates& certificates() {
  static const Certificates all;
  return all;
}

// Serves the folder's files. Each file is a whole answer.
struct TlsServer {
  std::string address = free_address();
  ChildProcess process;

  explicit TlsServer(const std::string& name = "server", const std::string& more = {})
      : process({"/bin/sh", "-c",
                 "cd '" + certificates().path("") + "' && exec openssl s_server -quiet -HTTP -accept " + address +
                     " -cert " + name + ".pem -key " + name + ".key " + more},
                "/dev/null") {
    REQUIRE(eventually([&] { return !contains(answer({}), "Connection refused"); }));
  }

  // Returns the body, or the error.
  std::string answer(http::TlsOptions tls, const std::string& target = "/metrics") const {
    if (tls.server_name.empty()) tls.server_name = "127.0.0.1";
    auto response = http::get(address, target, {.timeout = std::chrono::seconds(20), .tls = tls});
    return response ? response->body : response.error().message();
  }
  static bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
  static std::string free_address() {
    auto listener = http::open_tcp_listener("127.0.0.1:0");
    return "127.0.0.1:" + std::to_string(*http::local_port(listener->get()));
  }
};

bool contains(const std::string& text, std::string_view part) { return TlsServer::contains(text, part); }

}  // namespace

TEST_CASE("a server with a certificate for its address from an authority of ours is trusted") {
  TlsServer server;
  CHECK(server.answer({.ca_file = certificates().pem("ca")}) == "x 1\n");
  CHECK(server.answer({.ca_file = certificates().pem("ca"), .server_name = "server.test"}) == "x 1\n");
  CHECK(server.answer({.ca_file = certificates().pem("ca")}, "/large").size() == 200'000);
}

TEST_CASE("a certificate of another authority, and one that the system does not know, are refused") {
  TlsServer server;
  CHECK(contains(
      server.answer({.ca_file = certificates().pem("third_party")}),
      "cannot connect: TLS: the certificate of '127.0.0.1' is not trusted: unable to get local issuer certificate"));
  CHECK(contains(server.answer({}), "is not trusted"));
}

TEST_CASE("a certificate for another address or another name is refused") {
  TlsServer server("elsewhere");
  CHECK(contains(server.answer({.ca_file = certificates().pem("ca")}), "is not trusted: IP address mismatch"));
  CHECK(contains(server.answer({.ca_file = certificates().pem("ca"), .server_name = "server.test"}),
                 "is not trusted: hostname mismatch"));
}

TEST_CASE("a server that asks for a client certificate gets ours") {
  TlsServer server("server", "-Verify 1 -verify_return_error -CAfile ca.pem");
  const std::string ca = certificates().pem("ca");
  CHECK(server.answer({.ca_file = ca,
                       .certificate_file = certificates().pem("client"),
                       .key_file = certificates().key("client")}) == "x 1\n");
  const std::string without = server.answer({.ca_file = ca});
  CHECK_MESSAGE(contains(without, "certificate required"), without);
  CHECK(contains(
      server.answer(
          {.ca_file = ca, .certificate_file = certificates().pem("client"), .key_file = certificates().key("server")}),
      "key values mismatch"));
}

TEST_CASE("files that are missing or no PEM are reported with their path") {
  TlsServer server;
  CHECK(contains(server.answer({.ca_file = "/nowhere.pem"}), "'/nowhere.pem': "));
  CHECK(contains(server.answer({.ca_file = certificates().path("metrics")}),
                 "expected certificates of authorities in PEM"));
  CHECK(contains(server.answer({.ca_file = certificates().pem("ca"), .certificate_file = certificates().key("ca")}),
                 "expected this program's own certificate in PEM"));
}

TEST_CASE("an answer that is cut off is an error, and so is a server that speaks no TLS") {
  TlsServer server;
  const std::string cut = server.answer({.ca_file = certificates().pem("ca")}, "/short");
  CHECK_MESSAGE(contains(cut, "no answer: "), cut);
  RunningServer plain{http::Routes()};
  auto response = http::get(plain.address(), "/", {.tls = http::TlsOptions{.server_name = "127.0.0.1"}});
  REQUIRE_FALSE(response);
  CHECK_MESSAGE(contains(response.error().message(), "TLS: wrong version number"), response.error().message());
}

TEST_CASE("a server that says goodbye in the middle of the handshake has not shaken hands") {
  // A plaintext TLS alert: level warning, close_notify.
  constexpr std::string_view kCloseNotify("\x15\x03\x03\x00\x02\x01\x00", 7);
  ScriptedServer server([&](ScriptedServer::Peer& peer) {
    peer.send(kCloseNotify);
    peer.wait_for_close();
  });
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  auto response = http::get(address, "/",
                            {.timeout = std::chrono::seconds(20), .tls = http::TlsOptions{.server_name = "127.0.0.1"}});
  REQUIRE_FALSE(response);
  CHECK_MESSAGE(
      contains(response.error().message(), "cannot connect: TLS: the server ended the handshake with close_notify"),
      response.error().message());
  CHECK(server.connections() == 1);
}

TEST_CASE("a server that accepts and says nothing is given up at the timeout, also in the handshake") {
  auto listener = http::open_tcp_listener("127.0.0.1:0");
  auto response =
      http::get("127.0.0.1:" + std::to_string(*http::local_port(listener->get())), "/",
                {.timeout = std::chrono::milliseconds(50), .tls = http::TlsOptions{.server_name = "127.0.0.1"}});
  REQUIRE_FALSE(response);
  CHECK(response.error().is(std::errc::timed_out));
}

TEST_CASE("the memory of passed records is freed, and nothing is lost that has come or is to be sent") {
  const auto tls = http::TlsServer::open(
      {.certificate_file = certificates().pem("server"), .key_file = certificates().key("server")});
  REQUIRE_MESSAGE(tls, tls.error().message());
  auto server = (*tls)->accept().value();
  auto client = http::TlsSession::begin({.ca_file = certificates().pem("ca"), .server_name = "127.0.0.1"}).value();
  CHECK(client.shake_hands().value() == false);
  CHECK(server.incoming(client.outgoing()));
  CHECK(server.shake_hands().value() == false);
  CHECK(client.incoming(server.outgoing()));
  CHECK(client.shake_hands().value() == true);
  CHECK(client.write("question"));
  CHECK(server.incoming(client.outgoing()));  // the end of the handshake and the first data
  CHECK(server.shake_hands().value() == true);
  for (const char* text : {"question", "next"}) {
    server.free_passed();
    std::string read;
    CHECK(server.read(read).value() == false);
    CHECK(read == text);
    server.free_passed();
    CHECK(server.write("answer"));
    server.free_passed();
    CHECK(client.incoming(server.outgoing()));
    read.clear();
    CHECK(client.read(read).value() == false);
    CHECK(read == "answer");
    CHECK(client.write("next"));
    CHECK(server.incoming(client.outgoing()));
  }
}
