// SPDX-License-Identifier: Apache-2.0
// A server with real sockets and its loop in a thread, and a peer that sends raw bytes.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/unique_fd.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/server.hpp"

namespace koord::test {

class RunningServer {
 public:
  explicit RunningServer(http::Routes routes, http::Limits limits = {});
  ~RunningServer();

  http::Server& operator*() { return *server_; }
  http::Server* operator->() { return server_.get(); }
  const std::string& address() const { return address_; }

  void run_on_loop(std::function<void()> task) { loop_.post(std::move(task)); }
  // Stops within this time. Returns when the server reports that it has stopped.
  void stop(Duration bound);

 private:
  event::Loop loop_;
  event::WorkerPool workers_{2};
  std::unique_ptr<http::Server> server_;
  std::string address_;
  std::thread thread_;
};

// A folder for sockets, removed at the end.
class SocketFolder {
 public:
  SocketFolder();
  ~SocketFolder();
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

 private:
  std::string folder_;
};

class RawPeer {
 public:
  // `from`: a local address without a port; empty: any.
  explicit RawPeer(const std::string& address, const std::string& from = {});
  void send(std::string_view bytes);
  // Reads until the server closes.
  std::string read_to_end();
  // Reads until `mark` has arrived, or the server closes.
  std::string read_until(std::string_view mark);
  void close() { fd_.reset(); }

 private:
  UniqueFd fd_;
};

inline std::string get_request(std::string_view target, std::string_view headers = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}

}  // namespace koord::test
