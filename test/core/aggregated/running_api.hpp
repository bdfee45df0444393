// SPDX-License-Identifier: Apache-2.0
// An Api on a real socket with its loop in a thread. A client's identity is the value of the header X-Test-User, unless
// the test sets a different authentication.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "core/aggregated/handler.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/server.hpp"

namespace koord::test {

class RunningApi {
 public:
  // `address`: "127.0.0.1:0" takes a free port.
  explicit RunningApi(aggregated::Version first, const std::string& address = "127.0.0.1:0", http::Limits limits = {},
                      bool serves = true)
      : store_(first), api_(store_, clock_, &loop_) {
    http::Routes routes;
    aggregated::add_routes(routes, api_, access());
    server_ = std::make_unique<http::Server>(loop_, workers_, std::move(routes), limits);
    port_ = server_->listen_tcp(address).value();
    if (serves) store_.begin_serving();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RunningApi() {
    store_.close();
    loop_.post([this] { loop_.stop(); });
    thread_.join();
    server_.reset();
  }

  aggregated::Store& store() { return store_; }
  const aggregated::Store& store() const { return store_; }
  aggregated::Api& api() { return api_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + address(); }

 private:
  aggregated::Access access() {
    aggregated::Access access;
    access.authenticate = [](const http::Request& request, const aggregated::Access::OnIdentity& done) {
      const std::string user(request.header("X-Test-User").value_or("admin"));
      if (user == "unknown") return done(aggregated::Failure{.code = 401, .reason = "Unauthorized", .message = "no"});
      done(aggregated::Identity{.user = user});
    };
    access.authorize = [](const aggregated::Identity& identity, const aggregated::Attributes& attributes,
                          const aggregated::Access::OnDecision& done) {
      if (identity.user == "agent" && !attributes.is_resource)
        return done(aggregated::forbidden("", "only the resource is allowed"));
      if (identity.user == "reader" && attributes.verb != "get" && attributes.verb != "list")
        return done(aggregated::forbidden(attributes.name, "not allowed"));
      done(std::nullopt);
    };
    return access;
  }

  SystemClock clock_;
  aggregated::Store store_;
  event::Loop loop_;
  aggregated::Api api_;
  event::WorkerPool workers_{2};  // after the objects that its tasks use
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace koord::test
