// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/big_answer.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstddef>
#include <deque>

#include "core/http/socket_address.hpp"

namespace koord::hostile {
namespace {

constexpr std::size_t kMostBody = 16 << 20;  // the default limits of a target in core/scrape
constexpr int kMostSamples = 100'000;
constexpr std::size_t kMostHeld = 64;  // connections of peers

std::string big_body() {
  const std::string filling(100, 'x');
  std::string body;
  for (int i = 0; i < kMostSamples; ++i)
    body += "hostile_scraped{number=\"" + std::to_string(i) + "\",filling=\"" + filling + "\"} 1\n";
  for (const std::string comment = "# " + filling + "\n"; body.size() + comment.size() <= kMostBody;) body += comment;
  return body;
}

std::string dense_body() {
  std::string body;
  for (int i = 0; body.size() < 1 << 20; ++i) body += "a" + std::to_string(i) + " 1\n";
  return body;
}

std::string response(std::size_t length, const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\nContent-Length: " +
         std::to_string(length) + "\r\n\r\n" + body;
}

std::string whole(const std::string& body) { return response(body.size(), body); }

}  // namespace

BigAnswer::BigAnswer()
    : listener_(http::open_tcp_listener("127.0.0.1:0").value()),
      big_(whole(big_body())),
      stalled_(response(60 << 20, std::string(15 << 20, '#'))),
      dense_(whole(dense_body())) {
  ::fcntl(listener_.get(), F_SETFL, 0);  // accept() blocks
  url_ = "http://127.0.0.1:" + std::to_string(http::local_port(listener_.get()).value());
  server_ = std::thread([this] { serve(); });
}

BigAnswer::~BigAnswer() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept()
  server_.join();
}

const std::string& BigAnswer::answer_to(std::string_view request) const {
  if (!begun_) return none_;
  if (request.starts_with("GET /big ")) return big_;
  return request.starts_with("GET /dense ") ? dense_ : stalled_;
}

// Serves one peer after the other until shutdown() of the listener. The last peers stay connected.
void BigAnswer::serve() const {
  std::deque<UniqueFd> held;
  for (UniqueFd peer; peer.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), peer;) {
    char request[4096];
    const ssize_t asked = ::recv(peer.get(), request, sizeof request, 0);
    if (asked <= 0) continue;
    const std::string& answer = answer_to(std::string_view(request, static_cast<std::size_t>(asked)));
    std::size_t sent = 0;
    for (ssize_t n = 1; n > 0 && sent < answer.size(); sent += static_cast<std::size_t>(n > 0 ? n : 0))
      n = ::send(peer.get(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (&answer != &stalled_) continue;
    held.push_back(std::move(peer));
    if (held.size() > kMostHeld) held.pop_front();
  }
}

}  // namespace koord::hostile
