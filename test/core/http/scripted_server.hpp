// SPDX-License-Identifier: Apache-2.0
// A server on loopback that sends exactly the bytes of the test, with a thread for each connection: for answers that a
// correct server never gives.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/unique_fd.hpp"

namespace koord::test {

class ScriptedServer {
 public:
  // The `number`th connection, from 1. Calls after it was closed have no effect.
  class Peer {
   public:
    Peer(int fd, int which) : number(which), fd_(fd) {}
    // Reads a request with its body; "" if the client has closed.
    std::string read_request();
    // Returns false if the client has closed.
    bool send(std::string_view bytes);
    void close();
    void wait_for_close();
    const int number;

   private:
    int fd_;
    std::string unread_;
  };
  using Script = std::function<void(Peer&)>;

  // `address`: "127.0.0.1" or "[::1]", without a port. The connection closes when the script returns.
  explicit ScriptedServer(Script script, const std::string& address = "127.0.0.1");
  ~ScriptedServer();

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void accept_all();

  const Script script_;
  UniqueFd listener_, stop_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::list<UniqueFd> open_;  // kept until the destructor shuts them down
  std::list<std::thread> threads_;
  std::thread accepting_;
};

inline std::string answer_with(std::string_view body, std::string_view headers = {}) {
  return "HTTP/1.1 200 OK\r\n" + std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

}  // namespace koord::test
