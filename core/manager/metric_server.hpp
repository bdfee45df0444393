// SPDX-License-Identifier: Apache-2.0
// MetricServer: serves the aggregated API of NodeMetrics over TLS. Its parts decide which clients are served
// (api_access.hpp), answer them (served_metrics.hpp), act on reports (reported_nodes.hpp), and publish the leader's
// address (leader_slice.hpp). Functions are [loop thread] unless marked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/config/manager_config.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/server.hpp"
#include "core/kube/client.hpp"
#include "core/manager/api_access.hpp"
#include "core/manager/leader_slice.hpp"
#include "core/manager/leadership.hpp"
#include "core/manager/reported_nodes.hpp"
#include "core/manager/served_metrics.hpp"
#include "core/manager/version_marks.hpp"

namespace koord::manager {

class MetricServer {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;       // runs clients of the API server
    event::WorkerPool& http_workers;  // runs responses; both this pool and the clock outlive the server
    const Clock& clock;
    kube::Client& client;
    const kube::ConnectionConfig& api_server;
    std::shared_ptr<const LeaderTime> leader_time;
    std::string server_name;                          // DNS name that the certificate should have; empty: any
    std::function<std::vector<std::string>()> nodes;  // nodes of the cluster; empty: unknown
    std::function<std::string()> leader;              // the leader's address
    std::function<void(const aggregated::PlainObject&)> on_report;  // [any]
    bool mirrors = false;                                           // mirror reports to slo.koordinator.sh
  };

  // Starts to listen. An error names the configuration key.
  static Result<std::unique_ptr<MetricServer>> open(Parts parts, const config::ManagerConfig::Serve& settings);
  ~MetricServer();

  std::uint16_t port() const { return port_; }
  // Publishes the leader's endpoint. Without this call the leader is not published.
  void publish(LeaderEndpoint endpoint);

  // See Leadership::Options.
  std::uint64_t reserve(std::uint64_t in_lease);
  void reserved();
  void lead(bool leads);
  // Call it with each report that on_report receives.
  void take_report(const aggregated::PlainObject& report) { reported_.take(report); }
  // Stops accepting connections; see http::Server::stop().
  void stop(Duration bound, std::function<void()> stopped) { server_->stop(bound, std::move(stopped)); }

  struct Status {
    bool is_serving = false;
    aggregated::Store::Counters objects;
    http::Server::Counters server;
    kubeauth::Reviewer::Counters reviews;
    const aggregated::ApiCounters& api;
    const ApiAccess::Counters& access;
    std::uint64_t standby = 0;  // requests refused because this replica does not lead
    std::size_t stale = 0;      // number of objects without a current report
    std::optional<MetricMirror::Counts> mirrored = std::nullopt;
  };
  Status status() const;
  std::vector<std::string> problems() const;

 private:
  MetricServer(Parts parts, const config::ManagerConfig::Serve& settings, std::shared_ptr<http::TlsServer> tls);
  Result<void> listen(const std::string& address);
  http::Routes routes();
  void check();

  const Parts parts_;
  const std::shared_ptr<http::TlsServer> tls_;
  kube::Client mirror_client_;                   // separate, because slow mirror writes must not delay other requests
  const std::shared_ptr<ServedMetrics> served_;  // requests in progress also hold a reference
  ReportedNodes reported_;
  ApiAccess access_;
  VersionMarks marks_;
  std::optional<LeaderSlice> slice_;
  std::uint64_t standby_ = 0;
  Time next_look_{};  // next check for objects of nodes that do not exist
  std::uint16_t port_ = 0;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace koord::manager
