// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/metrics_access.hpp"

#include <chrono>
#include <utility>

#include "core/agentd/self_metrics.hpp"
#include "core/kube/client.hpp"
#include "core/kube/connection_config.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category tls_log{"tls"};
constexpr Duration kFilePeriod = std::chrono::seconds(5);
constexpr Duration kAttemptPeriod = std::chrono::seconds(1);

// A separate client, so that many tokens do not use up the rate of the agent's reports.
constexpr kube::ClientOptions kReviewClient{.requests_per_second = 20, .burst = 40, .kept_connections = 2};

http::TlsServerOptions server_options(const config::ListenSettings::Tls& settings) {
  http::TlsServerOptions options{.certificate_file = settings.certificate_file, .key_file = settings.key_file};
  if (!settings.client_ca_file.empty())
    options.clients.push_back({.name = kubeauth::kClientAuthorities, .file = settings.client_ca_file});
  return options;
}

}  // namespace

struct MetricsAccess::Reviews {
  Reviews(const Services& services, kube::ConnectionConfig config)
      : client(services.loop, services.workers, services.clock, std::move(config), kReviewClient),
        reviewer(services.loop, services.clock, client) {}

  kube::Client client;
  kubeauth::Reviewer reviewer;
  http::Guard guard;
};

MetricsAccess::MetricsAccess(const Services& services, const config::Config& config)
    : services_(services),
      address_(config.listen.metrics),
      settings_(config.listen.tls),
      kubeconfig_(config.cluster.kubeconfig) {}

MetricsAccess::~MetricsAccess() = default;

http::Routes MetricsAccess::guarded(http::Routes routes) {
  if (settings_.authorization == config::Authorization::kubernetes)
    routes.set_guard(guard());
  else if (!settings_.client_ca_file.empty())
    routes.set_guard(kubeauth::certificate_guard(refused_));
  return routes;
}

// Finds the reviews for each request, because the cluster's configuration may be found after the agent's start.
http::Guard MetricsAccess::guard() {
  return [this](http::Request& request, const http::Decide& decide) {
    if (Reviews* reviews = find_reviews()) return reviews->guard(request, decide);
    ++refused_->unavailable;
    decide(http::plain_text(503, "no API server is known that could be asked about this request"));
  };
}

MetricsAccess::Reviews* MetricsAccess::find_reviews() {
  if (reviews_ || services_.clock.now() < next_attempt_) return reviews_.get();
  next_attempt_ = services_.clock.now() + kAttemptPeriod;
  Result<kube::ConnectionConfig> found = kube::find_config(kubeconfig_);
  if (!found) {
    report("reviews", "no API server is known: " + found.error().message());
    return nullptr;
  }
  reviews_ = std::make_unique<Reviews>(services_, *std::move(found));
  reviews_->guard = kubeauth::review_guard(reviews_->reviewer, refused_,
                                           [this](const std::string& problem) { report("reviews", problem); });
  return reviews_.get();
}

Result<std::uint16_t> MetricsAccess::listen(http::Server& server) {
  if (!has_tls()) return server.listen_tcp(address_);
  Result<std::shared_ptr<http::TlsServer>> opened = http::TlsServer::open(server_options(settings_));
  if (!opened) return std::move(opened).error().context("listen.tls");
  tls_ = *std::move(opened);
  file_timer_ = services_.loop.every(kFilePeriod, [this] { check_files(); });
  export_refusals(services_.metrics, refused_);
  return server.listen_tls(address_, tls_);
}

void MetricsAccess::stop() { file_timer_.reset(); }

void MetricsAccess::check_files() {
  const std::uint64_t before = tls_->generation();
  tls_->refresh();
  if (tls_->generation() != before) log::info(tls_log, "certificate of the metrics port read again");
  report("files", tls_->problem());
}

void MetricsAccess::report(const char* subject, const std::string& problem) {
  const bool of_files = std::string_view(subject) == "files";
  {
    const std::lock_guard lock(mutex_);
    (of_files ? file_problem_ : review_problem_) = problem;
  }
  switch (logged_.update(subject, problem)) {
    case ProblemTracker::Change::none:
      return;
    case ProblemTracker::Change::begun:
      if (of_files)
        log::warn(tls_log, "listen.tls: {}; keeping the last good certificates", problem);
      else
        log::warn(tls_log, "requests to the metrics port are answered with 503: {}", problem);
      return;
    case ProblemTracker::Change::over:
      log::info(tls_log, "{}", of_files ? "files of listen.tls are in order again" : "the API server answers again");
  }
}

api::ModuleHealth MetricsAccess::health() const {
  const std::lock_guard lock(mutex_);
  std::string problem = file_problem_;
  if (!review_problem_.empty()) problem += (problem.empty() ? "" : "; ") + review_problem_;
  return {"metrics port", true, problem.empty() ? "ok" : "degraded: " + problem};
}

}  // namespace koord::agentd
