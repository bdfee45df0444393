// SPDX-License-Identifier: Apache-2.0
// MetricsAccess: TLS and access control of the metrics port (listen.tls). It fails closed: while the API server is
// unavailable, requests that need its review get 503. Functions are [loop thread] unless marked.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/agentd/services.hpp"
#include "core/api/module_health.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/config/config.hpp"
#include "core/event/timer.hpp"
#include "core/http/server.hpp"
#include "core/kubeauth/guard.hpp"

namespace koord::agentd {

class MetricsAccess {
 public:
  // The services must outlive this object, and this object must outlive the server.
  MetricsAccess(const Services& services, const config::Config& config);
  ~MetricsAccess();

  // Returns the routes, protected by the configured guard.
  http::Routes guarded(http::Routes routes);
  // Listens, with TLS if a certificate is configured. Returns the port. Fails with the name of a file that cannot be
  // used.
  Result<std::uint16_t> listen(http::Server& server);
  void stop();

  bool has_tls() const { return !settings_.certificate_file.empty(); }
  // [any]
  api::ModuleHealth health() const;

 private:
  struct Reviews;
  http::Guard guard();
  Reviews* find_reviews();
  void check_files();
  void report(const char* subject, const std::string& problem);

  const Services& services_;
  const std::string address_;
  const config::ListenSettings::Tls settings_;
  const std::string kubeconfig_;
  const std::shared_ptr<kubeauth::GuardCounters> refused_ = std::make_shared<kubeauth::GuardCounters>();
  std::shared_ptr<http::TlsServer> tls_;
  std::unique_ptr<Reviews> reviews_;
  Time next_attempt_ = Time::min();  // when to try next to find the API server
  std::unique_ptr<event::Timer> file_timer_;
  ProblemTracker logged_;
  mutable std::mutex mutex_;  // guards the following members
  std::string file_problem_, review_problem_;
};

}  // namespace koord::agentd
