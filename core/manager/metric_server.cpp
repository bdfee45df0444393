// SPDX-License-Identifier: Apache-2.0
#include "core/manager/metric_server.hpp"

#include <utility>

#include "core/aggregated/handler.hpp"
#include "core/aggregated/writing.hpp"
#include "core/manager/fresh_condition.hpp"
#include "core/manager/lease_record.hpp"
#include "core/manager/manager_log.hpp"
#include "core/manager/replica_setup.hpp"

namespace koord::manager {
namespace {

constexpr Duration kCheckPeriod = std::chrono::milliseconds(500);
constexpr Duration kUnknownNodesPeriod = std::chrono::seconds(10);

// The mirror has at most this many writes in flight (MirrorPlan::Options), and limits their rate itself.
constexpr std::size_t kMirrorConnections = MirrorPlan::Options().open;
constexpr kube::ClientOptions kMirrorClient{
    .requests_per_second = 200, .burst = 200, .kept_connections = kMirrorConnections};

// Each agent has a connection, and all nodes may be in one IPv6 network. Watches of all clients behind one API server
// come from that server's address, one connection each. A token may have 16 KiB, and the front proxy sends all groups
// of a user in headers. A report of a node with 250 pods has some 10 KiB, packed.
http::Limits server_limits() {
  http::Limits limits;
  limits.header_bytes = 32 << 10;
  limits.request_bytes = 64 << 20;
  limits.connections = 16'384;
  limits.connections_of_peer = 2'048;
  limits.connections_of_network = 8'192;
  return limits;
}

ServedMetrics::Options served_options(const config::ManagerConfig::Serve& settings,
                                      std::function<void(const aggregated::PlainObject&)> on_report,
                                      const Clock& clock) {
  return {.agent_user = settings.agent_user,
          .fill = settings.fill_time,
          .on_report = std::move(on_report),
          .complete_status = [&clock](std::string sent, std::string_view before) {
            return with_report_fresh(std::move(sent), before, clock.wall_ns() / 1'000'000'000);
          }};
}

}  // namespace

MetricServer::MetricServer(Parts parts, const config::ManagerConfig::Serve& settings,
                           std::shared_ptr<http::TlsServer> tls)
    : parts_(std::move(parts)),
      tls_(std::move(tls)),
      mirror_client_(parts_.loop, parts_.workers, parts_.clock, parts_.api_server, kMirrorClient),
      served_(std::make_shared<ServedMetrics>(ServedMetrics::Parts{parts_.loop, parts_.clock, parts_.leader_time},
                                              served_options(settings, parts_.on_report, parts_.clock))),
      reported_({parts_.loop, parts_.clock, mirror_client_, *served_}, parts_.mirrors),
      access_({parts_.loop, parts_.workers, parts_.clock, *tls_}, parts_.api_server, settings.review_cache) {}

MetricServer::~MetricServer() = default;

Result<std::unique_ptr<MetricServer>> MetricServer::open(Parts parts, const config::ManagerConfig::Serve& settings) {
  Result<std::shared_ptr<http::TlsServer>> tls = http::TlsServer::open({.certificate_file = settings.certificate_file,
                                                                        .key_file = settings.key_file,
                                                                        .clients_come_later = true,
                                                                        .server_name = parts.server_name});
  if (!tls) return with_file_key(std::move(tls).error(), settings);
  std::unique_ptr<MetricServer> server(new MetricServer(std::move(parts), settings, *std::move(tls)));
  if (Result<void> listening = server->listen(settings.address); !listening)
    return std::move(listening).error().context("serve.address");
  return server;
}

Result<void> MetricServer::listen(const std::string& address) {
  server_ = std::make_unique<http::Server>(parts_.loop, parts_.http_workers, routes(), server_limits());
  port_ = TRY(server_->listen_tls(address, tls_));
  timer_ = parts_.loop.every(kCheckPeriod, [this] { check(); });
  return {};
}

// A replica that does not lead refuses a request without asking the API server about the client.
http::Routes MetricServer::routes() {
  http::Routes routes;
  http::Guard check_access = aggregated::make_guard(access_.access());
  routes.all_below(
      "/",
      [served = served_](const http::Request& request, const http::Reply& reply) {
        const aggregated::Identity* identity = aggregated::identity_of(request);
        reply(served->answer(request, identity ? *identity : aggregated::Identity()));
      },
      aggregated::kMaxBodyBytes,
      [this, check_access = std::move(check_access)](http::Request& request, const http::Decide& decide) {
        if (served_->leads() || aggregated::Api::is_open_path(request.path)) return check_access(request, decide);
        ++standby_;
        decide(served_->refusal());
      });
  return routes;
}

void MetricServer::publish(LeaderEndpoint endpoint) {
  slice_.emplace(parts_.loop, parts_.client, std::move(endpoint), [this] { return served_->leads(); });
}

std::uint64_t MetricServer::reserve(std::uint64_t in_lease) {
  return marks_.propose(in_lease, parts_.clock.wall_ns(), served_->newest());
}

void MetricServer::reserved() {
  marks_.stored();
  served_->reserve(marks_.most());
}

void MetricServer::lead(bool leads) {
  if (leads) {
    served_->begin(marks_.first(), marks_.most());
  } else if (const auto newest = served_->end()) {
    marks_.ended(*newest);
  }
  reported_.lead(leads);
  if (slice_) slice_->lead(leads);
}

void MetricServer::check() {
  tls_->refresh();
  served_->set_leader(parts_.leader());
  reported_.check();
  const Time now = parts_.clock.now();
  if (!served_->is_filling() && now < next_look_) return;
  next_look_ = later(now, kUnknownNodesPeriod);
  served_->check(parts_.nodes());
}

MetricServer::Status MetricServer::status() const {
  return {.is_serving = served_->is_serving(),
          .objects = served_->objects(),
          .server = server_->counters(),
          .reviews = access_.reviews(),
          .api = served_->counters(),
          .access = access_.counters(),
          .standby = standby_,
          .stale = reported_.stale(),
          .mirrored = reported_.mirrored()};
}

std::vector<std::string> MetricServer::problems() const {
  std::vector<std::string> problems;
  if (const std::string problem = tls_->problem(); !problem.empty())
    problems.push_back("serve: " + problem + "; keeping the last good certificates");
  if (const std::string problem = tls_->name_problem(); !problem.empty())
    problems.push_back("serve.certificateFile: " + problem + "; the API server and agents do not trust it");
  if (!access_.problem().empty())
    problems.push_back("serve: " + access_.problem() + "; clients are authenticated as known before, or by token only");
  if (marks_.is_exhausted())
    problems.push_back("annotation " + std::string(kVersionsAnnotation) +
                       " of the Lease leaves less than a million resource versions, expected a mark near the clock; "
                       "without versions reports are refused. Stop all replicas, then delete the annotation");
  if (slice_ && !slice_->problem().empty()) problems.push_back("the leader is not published: " + slice_->problem());
  if (const std::string problem = reported_.problem(); !problem.empty())
    problems.push_back("NodeMetric of slo.koordinator.sh is not written from reports: " + problem);
  return problems;
}

}  // namespace koord::manager
