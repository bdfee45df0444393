// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "running_server.hpp"

using namespace koord;
using namespace koord::test;

namespace {

http::Routes peer_routes() {
  http::Routes routes;
  routes.get("/who", [](const http::Request& request) {
    return http::plain_text(200, request.from_unix_socket ? "local" : "remote");
  });
  return routes;
}

}  // namespace

TEST_CASE("a handler knows whether its peer came through the unix socket") {
  SocketFolder folder;
  RunningServer server(peer_routes());
  REQUIRE(server->listen_unix(folder.path("s")));
  CHECK(http::get(folder.path("s"), "/who")->body == "local\n");
  CHECK(http::get("unix://" + folder.path("s"), "/who")->body == "local\n");
  CHECK(http::get("http://" + server.address(), "/who")->body == "remote\n");
}

TEST_CASE("only its owner may use the socket, and its folder is created") {
  SocketFolder folder;
  auto fd = http::open_unix_listener(folder.path("a/b/s"));
  REQUIRE(fd);
  struct stat info;
  REQUIRE(::stat(folder.path("a/b/s").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a socket without a listener is replaced") {
  SocketFolder folder;
  REQUIRE(http::open_unix_listener(folder.path("s")));  // closed immediately; its file stays
  CHECK(std::filesystem::exists(folder.path("s")));
  CHECK(http::open_unix_listener(folder.path("s")));
}

TEST_CASE("a socket with a listener is left alone") {
  SocketFolder folder;
  RunningServer server(peer_routes());
  REQUIRE(server->listen_unix(folder.path("s")));
  auto second = server->listen_unix(folder.path("s"));
  REQUIRE_FALSE(second);
  CHECK(second.error().is(std::errc::address_in_use));
  CHECK(http::get(folder.path("s"), "/who")->status == 200);
}

TEST_CASE("a file that is not a socket is left alone") {
  SocketFolder folder;
  std::ofstream(folder.path("s")) << "precious";
  auto fd = http::open_unix_listener(folder.path("s"));
  REQUIRE_FALSE(fd);
  CHECK(fd.error().message().ends_with("it exists and is not a socket"));
}

TEST_CASE("a path too long for a socket is refused in words") {
  CHECK(http::open_unix_listener("/" + std::string(107, 'x'))
            .error()
            .message()
            .ends_with("has 108 bytes, expected 1 to 107"));
}

TEST_CASE("stop removes the socket, but not another's that has taken its place") {
  SocketFolder folder;
  RunningServer server(peer_routes());
  REQUIRE(server->listen_unix(folder.path("mine")));
  REQUIRE(server->listen_unix(folder.path("taken")));
  CHECK(http::get(folder.path("taken"), "/who"));  // after this answer the server listens on both
  UniqueFd other;
  std::filesystem::rename(folder.path("taken"), folder.path("moved"));
  std::ofstream(folder.path("taken")) << "another";
  server.stop(std::chrono::seconds(1));
  CHECK_FALSE(std::filesystem::exists(folder.path("mine")));
  CHECK(std::filesystem::exists(folder.path("taken")));
}

TEST_CASE("an address is numeric, local or empty, with a port") {
  for (const char* good : {"127.0.0.1:0", "[::1]:80", "localhost:9316", ":65535"}) CHECK(http::parse_tcp_address(good));
  for (const char* bad :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "example.org:80", "::1:80", "[::1:80", "1:x"})
    CHECK_FALSE(http::parse_tcp_address(bad));
}

TEST_CASE("a port in use is reported with its address") {
  RunningServer server(peer_routes());
  auto second = server->listen_tcp(server.address());
  REQUIRE_FALSE(second);
  CHECK(second.error().message() == "cannot listen on '" + server.address() + "': Address already in use");
}

namespace {

// Connects and sends nothing.
UniqueFd silent_peer(const std::string& path) {
  const http::SocketAddress address = *http::unix_address(path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(fd.get(), address.get(), address.length) == 0);
  return fd;
}

// Blocks until the server closes; returns the text received.
std::string rest_of(const UniqueFd& fd) {
  std::string all;
  char bytes[512];
  for (ssize_t n; (n = ::recv(fd.get(), bytes, sizeof bytes, 0)) > 0;) all.append(bytes, static_cast<std::size_t>(n));
  return all;
}

}  // namespace

TEST_CASE("a peer that is not admitted gets 403 with the reason") {
  SocketFolder folder;
  RunningServer server(peer_routes());
  REQUIRE(server->listen_unix(folder.path("s"), {.group = {}, .admit = [](const http::LocalPeer& peer) -> Result<void> {
                                                   return invalid("process " + std::to_string(peer.pid) +
                                                                  " is not wanted");
                                                 }}));
  const Result<http::ClientResponse> answer = http::get(folder.path("s"), "/who");
  REQUIRE(answer);
  CHECK(answer->status == 403);
  CHECK(answer->body == "process " + std::to_string(::getpid()) + " is not wanted\n");
}

TEST_CASE("peers that are not admitted and say nothing are closed, and take no place of others") {
  SocketFolder folder;
  http::Limits limits;
  limits.connections = 16;
  limits.idle = std::chrono::hours(1);
  RunningServer server(peer_routes(), limits);
  std::atomic<bool> admits = false;
  REQUIRE(server->listen_unix(folder.path("s"), {.group = {}, .admit = [&](const http::LocalPeer&) -> Result<void> {
                                                   return admits ? Result<void>() : Result<void>(invalid("not wanted"));
                                                 }}));
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(silent_peer(folder.path("s")));
  CHECK(http::get(folder.path("s"), "/who")->status == 403);
  admits = true;
  CHECK(http::get(folder.path("s"), "/who")->status == 200);
  int answered_at_once = 0;
  for (const UniqueFd& peer : silent)
    answered_at_once += rest_of(peer).starts_with("HTTP/1.1 403 ") ? 1 : 0;  // the server closes each connection
  CHECK(answered_at_once >= 92);
}

TEST_CASE("a group may open the socket, too") {
  SocketFolder folder;
  REQUIRE(http::open_unix_listener(folder.path("s"), ::getegid()));
  struct stat info;
  REQUIRE(::stat(folder.path("s").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0660);
  CHECK(info.st_gid == ::getegid());
}
