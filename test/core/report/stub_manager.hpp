// SPDX-License-Identifier: Apache-2.0
// A koord-manager for direct reports on loopback with TLS, with the real aggregated API or with any handler.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "core/aggregated/handler.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/server.hpp"
#include "test/support/certificate_folder.hpp"

namespace koord::test {

// "server" is the manager's certificate; "third-party" is from an authority that agents do not trust.
inline const CertificateFolder& manager_certificates() {
  static const auto all = [] {
    auto made = std::make_unique<CertificateFolder>();
    made->authority("ca");
    made->authority("other-ca");
    made->issue("ca", "server", "/CN=koord-manager", "subjectAltName=DNS:koord-manager.koordetector.svc");
    made->issue("ca", "elsewhere", "/CN=elsewhere", "subjectAltName=DNS:other.koordetector.svc");
    made->issue("other-ca", "third-party", "/CN=koord-manager", "subjectAltName=DNS:koord-manager.koordetector.svc");
    return made;
  }();
  return *all;
}

class StubManager {
 public:
  // `handler` gets every request.
  explicit StubManager(http::SlowHandler handler, const std::string& certificate = "server") {
    http::Routes routes;
    routes.all_below(
        "/",
        [this, handler = std::move(handler)](const http::Request& request, const http::Reply& reply) {
          ++requests_;
          handler(request, reply);
        },
        3u << 20);
    start(std::move(routes), certificate);
  }
  // Serves the aggregated API for an agent on the node `node`.
  explicit StubManager(aggregated::Store& store, const std::string& node = "test-node")
      : api_(std::make_unique<aggregated::Api>(store, clock_, &loop_)) {
    aggregated::Access access;
    access.authenticate = [this, node](const http::Request& request, const aggregated::Access::OnIdentity& done) {
      ++requests_;
      if (!request.header("Authorization").value_or("").starts_with("Bearer "))
        return done(aggregated::Failure{.code = 401, .reason = "Unauthorized", .message = "no token"});
      aggregated::Identity identity{.user = "system:serviceaccount:koordetector:koordetector"};
      identity.extra[std::string(aggregated::kNodeNameExtra)] = {node};
      done(std::move(identity));
    };
    http::Routes routes;
    aggregated::add_routes(routes, *api_, std::move(access));
    start(std::move(routes), "server");
  }
  ~StubManager() {
    loop_.post([this] { loop_.stop(); });
    thread_.join();
    server_.reset();
  }
  StubManager(const StubManager&) = delete;
  StubManager& operator=(const StubManager&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::uint64_t requests() const { return requests_; }

 private:
  void start(http::Routes routes, const std::string& certificate) {
    http::TlsServerOptions options;
    options.certificate_file = manager_certificates().pem(certificate);
    options.key_file = manager_certificates().key(certificate);
    auto tls = http::TlsServer::open(std::move(options));
    REQUIRE_MESSAGE(tls, tls.error().message());
    server_ = std::make_unique<http::Server>(loop_, workers_, std::move(routes));
    port_ = server_->listen_tls("127.0.0.1:0", *tls).value();
    thread_ = std::thread([this] { loop_.run(); });
  }

  SystemClock clock_;
  event::Loop loop_;
  std::atomic<std::uint64_t> requests_ = 0;
  std::unique_ptr<aggregated::Api> api_;
  event::WorkerPool workers_{2};  // after the objects that its tasks use
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace koord::test
