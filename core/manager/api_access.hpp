// SPDX-License-Identifier: Apache-2.0
// ApiAccess: decides which clients the aggregated API serves. It authenticates them by front proxy, client certificate
// or bearer token, and asks the API server what they may do (core/kubeauth). The authorities come from ConfigMap
// kube-system/extension-apiserver-authentication, which is watched. On a failure nothing is served. [loop thread]
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/aggregated/handler.hpp"
#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/tls_server.hpp"
#include "core/kube/client.hpp"
#include "core/kube/list_watch.hpp"
#include "core/kubeauth/front_proxy.hpp"
#include "core/kubeauth/reviewer.hpp"
#include "core/log/rate_limit.hpp"

namespace koord::manager {

class ApiAccess {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const Clock& clock;
    http::TlsServer& tls;  // receives the client CAs
  };
  struct Counters {
    std::atomic<std::uint64_t> unauthenticated = 0, forbidden = 0, limited = 0, unavailable = 0;
  };

  // `keep`: how long a decision of the API server is cached. The references must outlive this object.
  ApiAccess(Parts parts, const kube::ConnectionConfig& api_server, Duration keep);

  // The result must not outlive this object.
  aggregated::Access access();

  const Counters& counters() const { return counters_; }                         // [any]
  kubeauth::Reviewer::Counters reviews() const { return reviewer_.counters(); }  // [any]
  // Returns the problem with the watch of the ConfigMap, else with its content; "" without a problem.
  const std::string& problem() const { return watch_problem_.empty() ? settings_problem_ : watch_problem_; }

 private:
  void take_config_map(const kube::Objects& objects);
  void use(kubeauth::FrontProxy proxy);
  void use_again(kubeauth::FrontProxy proxy);
  void authenticate(const http::Request& request, const aggregated::Access::OnIdentity& on_identity);
  void authorize(const aggregated::Identity& identity, const aggregated::Attributes& attributes,
                 const aggregated::Access::OnDecision& on_decision);
  aggregated::Failure limited(const http::Request& request);
  void note_forged(const http::Request& request);

  const Parts parts_;
  kube::Client client_;
  kubeauth::Reviewer reviewer_;
  kubeauth::FrontProxy proxy_;
  bool is_known_ = false;  // the ConfigMap has been read, or is known to be missing or invalid
  Counters counters_;
  std::string watch_problem_, settings_problem_;
  Backoff retries_{std::chrono::seconds(1), std::chrono::minutes(1), random_seed()};  // after unusable settings
  std::unique_ptr<event::Timer> retry_;
  log::RateLimit audit_lines_{100, std::chrono::minutes(1)}, limited_lines_{10, std::chrono::minutes(1)};
  kube::ListWatch watch_;
};

}  // namespace koord::manager
