// SPDX-License-Identifier: Apache-2.0
#include "core/manager/program.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "core/base/backoff.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/base/version.hpp"
#include "core/http/server.hpp"
#include "core/kube/connection_config.hpp"
#include "core/manager/leadership.hpp"
#include "core/manager/manager_log.hpp"
#include "core/manager/options.hpp"
#include "core/manager/self_metrics.hpp"

namespace koord::manager {
namespace {

constexpr Duration kLogPeriod = std::chrono::seconds(5);
constexpr Duration kReleaseWait = std::chrono::seconds(3);
constexpr Duration kStopWait = std::chrono::seconds(1);

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "koord-manager";
}

std::string advertised(const config::ManagerConfig& config) {
  if (!config.advertise.empty()) return config.advertise;
  const std::string address = from_environment("POD_IP");
  if (address.empty() || config.listen.empty()) return {};
  const std::string port = config.listen.substr(config.listen.rfind(':'));
  return (address.find(':') == std::string::npos ? address : '[' + address + ']') + port;
}

Leadership::Options leadership_options(const config::ManagerConfig& config) {
  Leadership::Options options;
  options.lease = {config.lease.name_space, config.lease.name};
  if (options.lease.name_space.empty()) options.lease.name_space = from_environment("POD_NAMESPACE");
  if (options.lease.name_space.empty()) options.lease.name_space = "koordetector";
  const std::string pod = from_environment("POD_NAME");
  options.identity = make_identity(advertised(config), pod.empty() ? host_name() : pod, random_seed());
  options.timing = {config.lease.duration, config.lease.renew, config.lease.retry};
  return options;
}

Controllers::Options controller_options(const config::ManagerConfig& config, const config::FeatureGates& gates) {
  Controllers::Options options;
  options.config_map = config.slo_config_map;
  options.node_slo = gates.enabled(kNodeSloGate);
  options.node_metric = gates.enabled(kNodeMetricGate);
  options.batch = gates.enabled(kBatchGate);
  options.batch_options.fast = config.batch.withdraw_window;
  options.batch_options.grace = config.batch.grace;
  options.batch_options.withdraw_threshold = static_cast<double>(config.batch.withdraw_percent) / 100;
  return options;
}

kube::ClientOptions client_options(const config::ClusterSettings& settings) {
  kube::ClientOptions options;
  options.requests_per_second = static_cast<double>(settings.requests_per_second);
  options.burst = static_cast<std::uint32_t>(settings.burst);
  return options;
}

struct Program {
  Program(const config::ManagerConfig& config, const config::FeatureGates& gates, const kube::ConnectionConfig& api)
      : client(loop, workers, clock, api, client_options(config.cluster)),
        lease_client(loop, workers, clock, api, {}),
        events(loop, clock, client, {"koord-manager", host_name()}),
        controllers({loop, workers, clock, client, events, [this] { return leadership.leads(); }},
                    controller_options(config, gates)),
        leadership(loop, clock, lease_client, leadership_options(config), [this](bool leads) { lead(leads); }),
        server(loop, http_workers, routes()) {}

  void lead(bool leads) {
    if (leads)
      log::info(manager_log, "leads now");
    else
      log::warn(manager_log, "leads no longer, and writes nothing");
    controllers.lead(leads);
  }

  http::Routes routes() {
    http::Routes routes;
    routes.get_now("/healthz",
                   [](const http::Request&, const http::Reply& reply) { reply(http::plain_text(200, "ok")); });
    routes.get_now("/readyz", [this](const http::Request&, const http::Reply& reply) {
      reply(controllers.is_synced() ? http::plain_text(200, "ok") : http::plain_text(503, not_synced()));
    });
    routes.get_now("/metrics", [this](const http::Request&, const http::Reply& reply) {
      http::Response page;
      page.content_type = http::kPrometheusText;
      page.body =
          metrics_text({leadership.leads(), leadership.transitions()}, controllers.status(), client.use(), clock.now());
      reply(std::move(page));
    });
    return routes;
  }

  std::string not_synced() const {
    std::string text = "not known yet:";
    for (const Controllers::Watch& watch : controllers.status().watches)
      if (!watch.health.last_confirmed)
        text += ' ' + watch.kind + (watch.health.problem.empty() ? "" : " (" + watch.health.problem + ")");
    return text;
  }

  // Each problem once, when it begins; and that it is over, if it was about a watch.
  void log_problems() {
    const Controllers::Status status = controllers.status();
    for (const std::string& problem : problems.begun(status.problems)) log::warn(manager_log, "{}", problem);
    for (const Controllers::Watch& watch : status.watches) log_watch(watch);
    if (lease_problem.update("lease", leadership.problem()) == ProblemTracker::Change::begun)
      log::warn(manager_log, "lease: {}", leadership.problem());
  }

  void log_watch(const Controllers::Watch& watch) {
    switch (watches.update(watch.kind, watch.health.problem)) {
      case ProblemTracker::Change::begun:
        return log::warn(manager_log, "{}: {}, keeping the known objects", watch.kind, watch.health.problem);
      case ProblemTracker::Change::over:
        return log::info(manager_log, "{}: up to date again", watch.kind);
      case ProblemTracker::Change::none:
        return;
    }
  }

  Result<void> serve(const std::string& address) {
    if (!address.empty()) {
      const std::uint16_t port = TRY(server.listen_tcp(address));
      log::info(manager_log, "serves /healthz, /readyz and /metrics on '{}', port {}", address, port);
    }
    for (int signal : {SIGTERM, SIGINT}) TRY(loop.on_signal(signal, [this] { stop(); }));
    const auto period = loop.every(kLogPeriod, [this] { log_problems(); });
    loop.run();
    return {};
  }

  void stop() {
    log::info(manager_log, "ending");
    leadership.release([this] { server.stop(kStopWait, [this] { loop.stop(); }); });
    end = loop.after(kReleaseWait, [this] { loop.stop(); });
  }

  event::Loop loop;
  event::WorkerPool workers{2};
  event::WorkerPool http_workers{1};
  SystemClock clock;
  kube::Client client, lease_client;
  kube::Events events;
  Controllers controllers;
  Leadership leadership;
  http::Server server;
  ProblemTracker problems, watches, lease_problem;
  std::unique_ptr<event::Timer> end;
};

}  // namespace

int run(const config::ManagerConfig& config, const config::FeatureGates& gates) {
  std::signal(SIGPIPE, SIG_IGN);
  log::set_up(config.log.level, config.log.format);
  const Result<kube::ConnectionConfig> server = kube::find_config(config.cluster.kubeconfig);
  if (!server) {
    log::error(manager_log, "{}", server.error().message());
    return 1;
  }
  Program program(config, gates, *server);
  log::info(manager_log, "koord-manager {} uses the API server at {}:{}", kVersion, server->host, server->port);
  if (const Result<void> served = program.serve(config.listen); !served) {
    log::error(manager_log, "{}", served.error().message());
    return 1;
  }
  return 0;
}

}  // namespace koord::manager
