// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/self_metrics.hpp"

#include <cstdint>
#include <utility>

#include "core/agentd/process.hpp"
#include "core/base/to_seconds.hpp"
#include "core/base/version.hpp"

namespace koord::agentd {
namespace {

// A Prometheus counter that follows an external running total.
class FollowingCounter {
 public:
  explicit FollowingCounter(metric::HostCounter counter) : counter_(counter) {}
  void follow(double total) { counter_.add(total - counter_.value()); }

 private:
  metric::HostCounter counter_;
};

double as_double(std::uint64_t n) { return static_cast<double>(n); }

}  // namespace

void export_process(metric::HostMetrics& metrics) {
  metrics.gauge("host_info", "The agent's version; always 1.", {{"version", kVersion}}).set(1);
  auto resident = metrics.gauge("host_resident_memory_bytes", "Resident memory of the agent's process, in bytes.");
  auto files = metrics.gauge("host_open_files", "Open descriptors of the agent's process.");
  auto threads = metrics.gauge("host_threads", "Threads of the agent's process.");
  FollowingCounter cpu(metrics.counter("host_cpu_seconds_total", "CPU time used by the agent's process, in seconds."));
  metrics.on_collect([=]() mutable {
    ProcessUsage usage = process_usage();
    resident.set(as_double(usage.resident_bytes));
    files.set(as_double(usage.open_files));
    threads.set(as_double(usage.threads));
    cpu.follow(usage.cpu_seconds);
  });
}

void export_cgroup_files(metric::HostMetrics& metrics, const cgroup::Reader& reader) {
  metrics.gauge("host_open_files_limit", "Limit of open descriptors of the agent's process.")
      .set(as_double(open_files_limit()));
  auto files = metrics.gauge("host_cgroup_files", "Cgroup files in use by plugins.");
  const auto kept = [&metrics](const char* kind) {
    return metrics.gauge("host_cgroup_kept_descriptors", "Descriptors of cgroup files kept open between reads.",
                         {{"kind", kind}});
  };
  auto kept_files = kept("file");
  auto kept_directories = kept("directory");
  FollowingCounter reads(metrics.counter("host_cgroup_reads_total", "Reads of cgroup files."));
  FollowingCounter shared(metrics.counter("host_cgroup_shared_reads_total",
                                          "Reads of cgroup files avoided because another plugin's read was shared."));
  metrics.on_collect([=, &reader]() mutable {
    const cgroup::Reader::Use use = reader.use();
    files.set(as_double(use.kernel_files));
    kept_files.set(as_double(use.kept_files));
    kept_directories.set(as_double(use.kept_directories));
    reads.follow(as_double(use.reads));
    shared.follow(as_double(use.shared));
  });
}

void export_store(metric::HostMetrics& metrics, const service::StoreFeed& feed) {
  auto bytes = metrics.gauge("store_size_bytes", "Size of the metric cache on disk, in bytes.");
  auto series = metrics.gauge("store_live_series", "Current series in the metric cache.");
  auto degraded = metrics.gauge(
      "store_degraded", "1 while the metric cache keeps its data in memory only, although a file is configured.");
  FollowingCounter appended(metrics.counter("store_appended_samples_total", "Samples accepted by the metric cache."));
  FollowingCounter dropped(
      metrics.counter("store_dropped_samples_total", "Samples lost before they reached the disk."));
  FollowingCounter refused(metrics.counter("store_refused_batches_total", "Batches that the metric cache refused."));
  metrics.on_collect([=, &feed]() mutable {
    store::Stats stats = feed.store().stats();
    bytes.set(as_double(stats.bytes_on_disk));
    series.set(as_double(stats.live_series));
    degraded.set(stats.mode == store::Mode::memory && !stats.reason.empty());
    appended.follow(as_double(stats.appended_samples));
    dropped.follow(as_double(stats.dropped_samples));
    refused.follow(as_double(feed.refused_batches()));
  });
}

void export_http(metric::HostMetrics& metrics, const http::Server& server) {
  FollowingCounter requests(metrics.counter("http_requests_total", "Requests served."));
  FollowingCounter errors(metrics.counter("http_errors_total", "Requests answered with 4xx or 5xx."));
  FollowingCounter refused(metrics.counter("http_refused_connections_total", "Connections refused at a cap."));
  FollowingCounter displaced(metrics.counter(
      "http_displaced_connections_total", "Connections without a request that were closed at a cap for a newer one."));
  FollowingCounter failed(
      metrics.counter("http_failed_handshakes_total", "Connections without a complete TLS handshake."));
  metrics.on_collect([=, &server]() mutable {
    http::Server::Counters counters = server.counters();
    requests.follow(as_double(counters.requests));
    errors.follow(as_double(counters.errors));
    refused.follow(as_double(counters.refused_connections));
    displaced.follow(as_double(counters.displaced_connections));
    failed.follow(as_double(counters.failed_handshakes));
  });
}

void export_refusals(metric::HostMetrics& metrics, std::shared_ptr<const kubeauth::GuardCounters> refused) {
  const auto counter = [&](const char* reason) {
    return FollowingCounter(metrics.counter("http_unauthorized_requests_total",
                                            "Requests to the metrics port that were refused, by reason.",
                                            {{"reason", reason}}));
  };
  metrics.on_collect([refused = std::move(refused), unauthenticated = counter("unauthenticated"),
                      forbidden = counter("forbidden"), limited = counter("limited"),
                      unavailable = counter("unavailable")]() mutable {
    unauthenticated.follow(as_double(refused->unauthenticated));
    forbidden.follow(as_double(refused->forbidden));
    limited.follow(as_double(refused->limited));
    unavailable.follow(as_double(refused->unavailable));
  });
}

void export_capabilities(metric::HostMetrics& metrics, const service::CapabilityBoard& board) {
  metrics.on_collect([&metrics, &board] {
    for (const service::Capability& capability : board.list()) {
      if (!capability.plugin.empty()) continue;
      metrics
          .gauge("host_capability", "Capability of this node: 1 supported, 0 absent, -1 broken.",
                 {{"capability", capability.name}})
          .set(capability.state == service::CapabilityState::supported ? 1
               : capability.state == service::CapabilityState::broken  ? -1
                                                                       : 0);
    }
  });
}

void export_state_age(metric::HostMetrics& metrics, const state::Hub& hub, const Clock& clock,
                      std::function<Duration(state::Part)> period_of) {
  metrics.on_collect([&metrics, &hub, &clock, period_of = std::move(period_of)] {
    for (const auto& [part, name] : {std::pair(state::kNode, "node"),
                                     {state::kPods, "pods"},
                                     {state::kNodeSlo, "node_slo"},
                                     {state::kTopology, "topology"}}) {
      const std::optional<Time> confirmed = hub.confirmed(part);
      if (!confirmed) continue;
      metrics
          .gauge("host_state_age_seconds",
                 "Seconds since this part of the state was last confirmed; missing for a part that was never known.",
                 {{"part", name}})
          .set(to_seconds(clock.now() - *confirmed));
      metrics
          .gauge("host_state_period_seconds",
                 "Seconds within which the source of this part confirms it, if it answers.", {{"part", name}})
          .set(to_seconds(period_of(part)));
    }
  });
}

void export_events(metric::HostMetrics& metrics, const service::EventLog& events) {
  metrics.on_collect([&metrics, &events] {
    for (const auto& [plugin, count] : events.counts())
      FollowingCounter(
          metrics.counter("host_events_total", "Events by source.", {{"plugin", plugin.empty() ? "host" : plugin}}))
          .follow(as_double(count));
  });
}

void export_decisions(metric::HostMetrics& metrics, const knob::Governor& governor) {
  auto held = metrics.gauge("host_knobs_held", "Knobs with a value that the agent wrote.");
  auto file = metrics.gauge("host_decisions_file_bytes", "Size of the file of decisions, in bytes.");
  auto degraded = metrics.gauge("host_decisions_degraded",
                                "1 while decisions are kept in memory only, although a file is configured.");
  FollowingCounter dropped(
      metrics.counter("host_decisions_dropped_total", "Decisions lost before they reached the disk."));
  metrics.on_collect([=, &metrics, &governor]() mutable {
    held.set(as_double(governor.held()));
    if (const auto archive = governor.log().archive()) {
      file.set(as_double(archive->bytes));
      degraded.set(!archive->problem.empty());
      dropped.follow(as_double(archive->dropped));
    }
    const auto by_result = governor.active_intents_by_result();
    for (const decision::Outcome outcome :
         {decision::Outcome::applied, decision::Outcome::shadow, decision::Outcome::hands_off, decision::Outcome::lost,
          decision::Outcome::contested, decision::Outcome::failed, decision::Outcome::unsupported,
          decision::Outcome::gone, decision::Outcome::off}) {
      const auto count = by_result.find(outcome);
      metrics.gauge("host_active_intents", "Active intents by result.", {{"result", std::string(name_of(outcome))}})
          .set(count == by_result.end() ? 0 : as_double(count->second));
    }
    for (const auto& [outcome, count] : governor.counts())
      FollowingCounter(
          metrics.counter("host_decisions_total", "Decisions by result.", {{"result", std::string(name_of(outcome))}}))
          .follow(as_double(count));
  });
}

}  // namespace koord::agentd
