// SPDX-License-Identifier: Apache-2.0
// AgentConnection: the TLS connection of one agent to koord-manager, with blocking calls. The local address can be
// chosen, because a server counts connections by address. Failures end the program.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"
#include "core/http/tls.hpp"

namespace koord::bench {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "the measurement has failed: %s\n", why.c_str());
  std::exit(1);
}

class AgentConnection {
 public:
  // `from`: own address, such as "127.0.1.7".
  AgentConnection(const std::string& from, std::uint16_t port, const http::TlsOptions& tls)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in own = address(from, 0), server = address("127.0.0.1", port);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0 ||
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0)
      give_up("cannot connect from " + from);
    Result<http::TlsSession> session = http::TlsSession::begin(tls);
    if (!session) give_up(session.error().message());
    session_ = std::make_unique<http::TlsSession>(*std::move(session));
    while (true) {
      const Result<bool> done = session_->shake_hands();
      if (!done) give_up(done.error().message());
      flush();
      if (*done) return;
      receive();
    }
  }

  void send(std::string_view request) {
    if (!session_->write(request)) give_up("cannot encrypt");
    flush();
  }
  // Reads more bytes of the answer into it. Blocks until some arrive.
  void read(std::string& answer) {
    const std::size_t before = answer.size();
    while (answer.size() == before) {
      receive();
      const Result<bool> read = session_->read(answer);
      if (!read || (*read && answer.size() == before)) give_up("the manager closed a connection");
    }
  }
  // Returns the answer to a request. The answer must state its length.
  std::string ask(std::string_view request) {
    send(request);
    std::string answer;
    while (answer.find("\r\n\r\n") == answer.npos) read(answer);
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t body = answer.find("\r\n\r\n") + 4, length = answer.find(kLength);
    if (length == answer.npos || length > body) give_up("an answer without a length: " + answer);
    const std::size_t begin = length + kLength.size();
    const auto bytes = parse_uint(std::string_view(answer).substr(begin, answer.find('\r', begin) - begin));
    if (!bytes) give_up("an answer with a wrong length: " + answer);
    while (answer.size() < body + *bytes) read(answer);
    return answer;
  }

 private:
  static sockaddr_in address(const std::string& host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    return address;
  }
  void flush() {
    const std::string bytes = session_->outgoing();
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) give_up("cannot send");
      sent += static_cast<std::size_t>(n);
    }
  }
  void receive() {
    std::array<char, 16 << 10> block;
    const ssize_t n = ::recv(fd_.get(), block.data(), block.size(), 0);
    if (n <= 0) give_up("the manager closed a connection");
    if (!session_->incoming({block.data(), static_cast<std::size_t>(n)})) give_up("cannot decrypt");
  }

  UniqueFd fd_;
  std::unique_ptr<http::TlsSession> session_;
};

}  // namespace koord::bench
