// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/big_answer.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstddef>

#include "core/http/socket_address.hpp"

namespace koord::hostile {
namespace {

constexpr std::size_t kMostBody = 16 << 20;  // core/scrape: the limits of a target that asks for none
constexpr int kMostSamples = 100'000;

std::string big_body() {
  const std::string filling(100, 'x');
  std::string body;
  for (int i = 0; i < kMostSamples; ++i) body += "hostile_scraped{number=\"" + std::to_string(i) + "\",filling=\"" + filling + "\"} 1\n";
  for (const std::string comment = "# " + filling + "\n"; body.size() + comment.size() <= kMostBody;) body += comment;
  return body;
}

}  // namespace

BigAnswer::BigAnswer() : listener_(http::open_tcp_listener("127.0.0.1:0").value()) {
  ::fcntl(listener_.get(), F_SETFL, 0);  // accept() blocks
  url_ = "http://127.0.0.1:" + std::to_string(http::local_port(listener_.get()).value()) + "/";
  const std::string body = big_body();
  answer_ = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body;
  server_ = std::thread([this] { serve(); });
}

BigAnswer::~BigAnswer() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept()
  server_.join();
}

// One peer after the other, until the listener is shut down.
void BigAnswer::serve() const {
  for (UniqueFd peer; peer.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), peer;) {
    char request[4096];
    if (::recv(peer.get(), request, sizeof request, 0) <= 0) continue;
    std::size_t sent = 0;
    for (ssize_t n = 1; n > 0 && sent < answer_.size(); sent += static_cast<std::size_t>(n > 0 ? n : 0))
      n = ::send(peer.get(), answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
  }
}

}  // namespace koord::hostile
