// SPDX-License-Identifier: Apache-2.0
#include "core/manager/program.hpp"

#include <malloc.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>

#include "core/base/backoff.hpp"
#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/base/program.hpp"
#include "core/base/version.hpp"
#include "core/http/server.hpp"
#include "core/kube/client_options.hpp"
#include "core/kube/connection_config.hpp"
#include "core/manager/leadership.hpp"
#include "core/manager/manager_log.hpp"
#include "core/manager/metric_server.hpp"
#include "core/manager/options.hpp"
#include "core/manager/replica_setup.hpp"
#include "core/manager/self_metrics.hpp"

namespace koord::manager {
namespace {

constexpr Duration kLogPeriod = std::chrono::seconds(5);
constexpr Duration kReleaseWait = std::chrono::seconds(3);
constexpr Duration kStopWait = std::chrono::seconds(1);

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "koord-manager";
}

Leadership::Options leadership_options(const config::ManagerConfig& config, const Environment& environment,
                                       const std::string& address) {
  Leadership::Options options;
  options.lease = {lease_namespace(config, environment), config.lease.name};
  const std::string& pod = environment.pod_name;
  options.identity = make_identity(address, pod.empty() ? host_name() : pod, random_seed());
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

struct Program {
  Program(const config::ManagerConfig& config, const config::FeatureGates& gates, const kube::ConnectionConfig& api)
      : client(loop, workers, clock, api, kube::client_options(config.cluster)),
        lease_client(loop, workers, clock, api, {}),
        events(loop, clock, client, {"koord-manager", host_name()}),
        controllers({loop, workers, clock, client, events, [this] { return leads(); }},
                    controller_options(config, gates)),
        server(loop, http_workers, routes()),
        mirrors(gates.enabled(kMirrorGate)) {}

  bool leads() const { return leader_time->leads(clock); }

  void lead(bool leads) {
    if (leads)
      log::info(manager_log, "leads now");
    else
      log::warn(manager_log, "leads no longer, and writes nothing");
    controllers.lead(leads);
    if (metric_server) metric_server->lead(leads);
  }

  http::Routes routes() {
    http::Routes routes;
    routes.get_now("/healthz",
                   [](const http::Request&, const http::Reply& reply) { reply(http::plain_text(200, "ok")); });
    routes.get_now("/readyz", [this](const http::Request&, const http::Reply& reply) {
      reply(controllers.is_synced() ? http::plain_text(200, join(all_problems("ok"), "\n"))
                                    : http::plain_text(503, not_synced()));
    });
    routes.get_now("/metrics", [this](const http::Request&, const http::Reply& reply) {
      http::Response page;
      page.content_type = http::kPrometheusText;
      page.body = metrics_text({leads(), leadership ? leadership->transitions() : 0}, controllers.status(),
                               client.use(), clock.now());
      if (metric_server) page.body += serve_metrics_text(metric_server->status());
      reply(std::move(page));
    });
    return routes;
  }

  std::string not_synced() const {
    std::string text = "not known yet:";
    for (const Controllers::Watch& watch : controllers.status().watches)
      if (!watch.health.last_confirmed)
        text += ' ' + watch.kind + (watch.health.problem.empty() ? "" : " (" + printable(watch.health.problem) + ")");
    return text;
  }

  // Returns all problems. A non-empty `first` comes first.
  std::vector<std::string> all_problems(const std::string& first = {}) const {
    std::vector<std::string> all;
    if (!first.empty()) all.push_back(first);
    Controllers::Status status = controllers.status();
    for (std::string& problem : status.settings_problems) all.push_back(std::move(problem));
    add_other_problems(std::move(status.problems), all);
    return all;
  }

  // Adds the problems of the controllers and of the server, each as one printable line.
  void add_other_problems(std::vector<std::string> of_controllers, std::vector<std::string>& all) const {
    for (std::string& problem : of_controllers) all.push_back(std::move(problem));
    if (metric_server)
      for (std::string& problem : metric_server->problems()) all.push_back(std::move(problem));
    for (std::string& problem : all) problem = printable(problem, Controllers::kMostLine);
  }

  // Logs each problem once, when it begins. Logs the end of a problem only for a watch. The controllers log problems
  // with settings themselves.
  void log_problems() {
    const Controllers::Status status = controllers.status();
    std::vector<std::string> all;
    add_other_problems(status.problems, all);
    for (const std::string& problem : problems.begun(all)) log::warn(manager_log, "{}", problem);
    for (const Controllers::Watch& watch : status.watches) log_watch(watch);
    if (lease_problem.update("lease", leadership->problem()) == ProblemTracker::Change::begun)
      log::warn(manager_log, "lease: {}", leadership->problem());
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

  // Handles a report like an object from the watch of NodeMetrics.
  void take_report(const aggregated::PlainObject& report) {
    loop.post([this, report] {
      controllers.take_report(report.object->name(), report.json());
      if (metric_server) metric_server->take_report(report);
    });
  }

  Result<void> serve_metrics(const config::ManagerConfig& config, const kube::ConnectionConfig& api) {
    if (config.serve.address.empty()) {
      if (mirrors) log::warn(manager_log, "{} mirrors nothing without serve.address", kMirrorGate);
      return {};
    }
    MetricServer::Parts parts{
        .loop = loop,
        .workers = workers,
        .http_workers = metric_workers,
        .clock = clock,
        .client = client,
        .api_server = api,
        .leader_time = leader_time,
        .server_name = server_name(config, environment),
        .nodes = [this] { return controllers.nodes(); },
        .leader = [this] { return leadership ? address_of_identity(leadership->holder()) : std::string(); },
        .on_report = [this](const aggregated::PlainObject& report) { take_report(report); },
        .mirrors = mirrors};
    metric_server = TRY(MetricServer::open(std::move(parts), config.serve));
    log::info(manager_log, "serves the aggregated API on '{}', port {}", config.serve.address, metric_server->port());
    return {};
  }

  Result<void> publish(const config::ManagerConfig& config, const std::string& address) {
    if (!metric_server || config.serve.service.empty()) return {};
    LeaderEndpoint endpoint = TRY(parse_endpoint(address));
    endpoint.name_space = lease_namespace(config, environment);
    endpoint.service = config.serve.service;
    endpoint.pod = environment.pod_name;
    metric_server->publish(std::move(endpoint));
    return {};
  }

  // Starts to take part in the election.
  void elect(const config::ManagerConfig& config, const std::string& address) {
    Leadership::Options options = leadership_options(config, environment, address);
    options.time = leader_time;
    if (metric_server) {
      options.reserve = [this](std::uint64_t in_lease) { return metric_server->reserve(in_lease); };
      options.on_reserved = [this](std::uint64_t) { metric_server->reserved(); };
    }
    leadership.emplace(loop, clock, lease_client, std::move(options), [this](bool leads) { lead(leads); });
  }

  Result<void> serve(const config::ManagerConfig& config, const kube::ConnectionConfig& api) {
    TRY(serve_metrics(config, api));
    const std::uint16_t api_port = metric_server ? metric_server->port() : std::uint16_t{0};
    const std::string own_address = TRY(advertised(config, environment, api_port));
    TRY(publish(config, own_address));
    if (!config.listen.empty()) {
      const std::uint16_t port = TRY(server.listen_tcp(config.listen));
      log::info(manager_log, "serves /healthz, /readyz and /metrics on '{}', port {}", config.listen, port);
    }
    elect(config, own_address);
    for (int signal : {SIGTERM, SIGINT}) TRY(loop.on_signal(signal, [this] { stop(); }));
    const auto period = loop.every(kLogPeriod, [this] { log_problems(); });
    loop.run();
    return {};
  }

  void stop() {
    log::info(manager_log, "ending");
    leadership->release([this] { stop_servers(); });
    end = loop.after(kReleaseWait, [this] { loop.stop(); });
  }

  void stop_servers() {
    auto end_loop = [this] { server.stop(kStopWait, [this] { loop.stop(); }); };
    if (!metric_server) return end_loop();
    metric_server->stop(kStopWait, end_loop);
  }

  const Environment environment = Environment::of_process();
  event::Loop loop;
  SystemClock clock;
  event::WorkerPool workers{2};
  event::WorkerPool http_workers{1};
  event::WorkerPool metric_workers{2};
  const std::shared_ptr<LeaderTime> leader_time = std::make_shared<LeaderTime>();
  kube::Client client, lease_client;
  kube::Events events;
  Controllers controllers;
  std::unique_ptr<MetricServer> metric_server;
  std::optional<Leadership> leadership;
  http::Server server;
  const bool mirrors;
  ProblemTracker problems, watches, lease_problem;
  std::unique_ptr<event::Timer> end;
};

}  // namespace

int run(const config::ManagerConfig& config, const config::FeatureGates& gates) {
  std::signal(SIGPIPE, SIG_IGN);
  ::mallopt(M_ARENA_MAX, 1);  // more arenas would keep more free memory
  raise_file_limit();         // each agent has a connection
  log::set_up(config.log.level, config.log.format);
  const Result<kube::ConnectionConfig> server = kube::find_config(config.cluster.kubeconfig);
  if (!server) {
    const std::string& file = config.cluster.kubeconfig;
    log::error(manager_log, "{}{}", file.empty() ? "" : "cluster.kubeconfig: ", server.error().message());
    return 1;
  }
  Program program(config, gates, *server);
  log::info(manager_log, "koord-manager {} uses the API server at {}:{}", kVersion, server->host, server->port);
  if (const Result<void> served = program.serve(config, *server); !served) {
    log::error(manager_log, "{}", served.error().message());
    return 1;
  }
  return 0;
}

}  // namespace koord::manager
