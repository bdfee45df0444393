// SPDX-License-Identifier: Apache-2.0
// For tests of the client on the loop: the client, servers that send the test's bytes, and chunked bodies.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/async_client.hpp"
#include "scripted_server.hpp"
#include "test/support/loop_here.hpp"

namespace koord::test {

using namespace std::chrono_literals;

using Peer = ScriptedServer::Peer;
using Answer = Result<http::ClientResponse>;

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct ClientHere : LoopHere {
  explicit ClientHere(const ScriptedServer& server, http::AsyncLimits limits = {}, std::string host = "127.0.0.1")
      : client(loop, workers, {.host = std::move(host), .port = server.port()}, limits) {}

  static http::AsyncRequest patient(http::AsyncRequest request) {
    if (request.timeout == http::AsyncRequest().timeout) request.timeout = 60s;
    return request;
  }
  Answer send(http::AsyncRequest request) {
    std::optional<Answer> answer;
    const auto pending = client.send(patient(std::move(request)), [&](Answer a) { answer = std::move(a); });
    CHECK_FALSE(answer);
    REQUIRE(until([&] { return answer.has_value(); }));
    return std::move(*answer);
  }
  // Returns the body, or the error.
  std::string body_or_error(http::AsyncRequest request) {
    Answer answer = send(std::move(request));
    return answer ? answer->body : answer.error().message();
  }

  http::AsyncClient client;
};

// Answers each request with its number on the connection.
inline void serve(Peer& peer) {
  for (int i = 1; !peer.read_request().empty(); ++i)
    peer.send(answer_with(std::to_string(peer.number) + "." + std::to_string(i)));
}

inline std::string chunk(std::string_view text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + std::string(text) + "\r\n";
}
inline const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace koord::test
