// SPDX-License-Identifier: Apache-2.0
// Endpoints to scrape: one with a given answer, and some with slow or endless answers.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/http/socket_address.hpp"
#include "test/core/http/running_server.hpp"
#include "test/support/eventually.hpp"

namespace koord::test {

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Answers each scrape with the last given text.
class Endpoint {
 public:
  Endpoint() { (void)server_->listen_unix(socket()); }

  void say(std::string text, unsigned status = 200, std::string type = std::string(http::kPrometheusText)) {
    std::lock_guard lock(mutex_);
    response_ = {.status = status, .content_type = std::move(type), .body = std::move(text), .headers = {}};
  }
  std::string url() const { return "http://" + server_.address() + "/metrics"; }
  std::string socket() const { return folder_.path("endpoint.sock"); }

 private:
  http::Routes routes() {
    http::Routes routes;
    routes.get("/metrics", [this](const http::Request&) {
      std::lock_guard lock(mutex_);
      return response_;
    });
    return routes;
  }

  SocketFolder folder_;
  std::mutex mutex_;
  http::Response response_;
  RunningServer server_{routes()};
};

// Accepts connections, announces a long answer, and sends one byte at a time.
class Trickle {
 public:
  std::string url() const { return "http://127.0.0.1:" + std::to_string(*http::local_port(listener_.get())) + "/"; }

 private:
  UniqueFd listener_ = http::open_tcp_listener("127.0.0.1:0").value();
  std::jthread server_{[this](const std::stop_token& stop) {
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    while (!stop.stop_requested()) {
      UniqueFd peer(::accept(listener_.get(), nullptr, nullptr));
      if (!peer) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // lets the endpoint use the CPU
        continue;
      }
      (void)::send(peer.get(), head.data(), head.size(), MSG_NOSIGNAL);
      while (!stop.stop_requested() && ::send(peer.get(), "#", 1, MSG_NOSIGNAL) == 1) std::this_thread::yield();
    }
  }};
};

// Sends an answer without a length and without an end, as fast as it can.
class Flood {
 public:
  std::string url() const { return "http://127.0.0.1:" + std::to_string(*http::local_port(listener_.get())) + "/"; }

 private:
  UniqueFd listener_ = http::open_tcp_listener("127.0.0.1:0").value();
  std::jthread server_{[this](const std::stop_token& stop) {
    const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", body(64 << 10, '#');
    while (!stop.stop_requested()) {
      UniqueFd peer(::accept(listener_.get(), nullptr, nullptr));
      if (!peer) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // lets the endpoint use the CPU
        continue;
      }
      (void)::send(peer.get(), head.data(), head.size(), MSG_NOSIGNAL);
      while (!stop.stop_requested() && ::send(peer.get(), body.data(), body.size(), MSG_NOSIGNAL) > 0)
        std::this_thread::yield();
    }
  }};
};

}  // namespace koord::test
