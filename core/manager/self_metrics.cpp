// SPDX-License-Identifier: Apache-2.0
#include "core/manager/self_metrics.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace koord::manager {
namespace {

class Page {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP koord_manager_{0} {2}\n# TYPE koord_manager_{0} {1}\n", name,
                   type, help);
  }
  // `labels`: with braces, or "".
  void line(const std::string& labels, std::uint64_t value) {
    fmt::format_to(std::back_inserter(text_), "koord_manager_{}{} {}\n", name_, labels, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_, name_;
};

std::string label(std::string_view name, std::string_view value) { return fmt::format("{{{}=\"{}\"}}", name, value); }

void add_objects(Page& page, const Controllers::Status& status) {
  page.head("writes_total", "counter", "Writes of objects by kind and result.");
  const auto writes = [&](std::string_view kind, const PerNodeObjects* objects) {
    if (!objects) return;
    const PerNodeObjects::Counts& counts = objects->counts();
    const std::pair<std::string_view, std::uint64_t> results[] = {{"created", counts.created},
                                                                  {"replaced", counts.replaced},
                                                                  {"removed", counts.removed},
                                                                  {"conflict", counts.changed},
                                                                  {"failed", counts.failed}};
    for (const auto& [result, count] : results)
      page.line(fmt::format("{{kind=\"{}\",result=\"{}\"}}", kind, result), count);
  };
  writes("NodeSLO", status.slos);
  writes("NodeMetric", status.metrics);
  if (!status.batch) return;
  const BatchNodes::Counts& counts = status.batch->counts();
  page.head("batch_changes_total", "counter", "Changes of batch and mid resources of nodes by kind.");
  const std::pair<std::string_view, std::uint64_t> changes[] = {{"granted", counts.granted},
                                                                {"withdrawn", counts.withdrawn},
                                                                {"removed", counts.removed},
                                                                {"failed", counts.failed}};
  for (const auto& [change, count] : changes) page.line(label("change", change), count);
}

void add_bounds(Page& page, const Controllers::Status& status, Time now) {
  const std::pair<std::string_view, const WriteBounds*> all[] = {
      {"NodeSLO", status.slos ? &status.slos->bounds() : nullptr},
      {"NodeMetric", status.metrics ? &status.metrics->bounds() : nullptr},
      {"Node", status.batch ? &status.batch->bounds() : nullptr}};
  page.head("overwritten_total", "counter", "Changes by other programs of what koord-manager had written.");
  for (const auto& [kind, bounds] : all)
    if (bounds) page.line(label("kind", kind), bounds->overwrites());
  page.head("contested", "gauge", "Objects left alone because another program keeps changing them.");
  for (const auto& [kind, bounds] : all)
    if (bounds) page.line(label("kind", kind), bounds->contested(now));
}

}  // namespace

std::string metrics_text(const LeaderStatus& leader, const Controllers::Status& status, const kube::Client::Use& use,
                         Time now) {
  Page page;
  page.head("leader", "gauge", "Whether this replica leads.");
  page.line("", leader.leads ? 1 : 0);
  page.head("lease_transitions", "gauge", "Changes of the leader, as the Lease counts them.");
  page.line("", static_cast<std::uint64_t>(leader.transitions));
  page.head("watch_current", "gauge", "Whether the objects of a kind are known and up to date.");
  for (const Controllers::Watch& watch : status.watches)
    page.line(label("kind", watch.kind), watch.health.state == kube::Health::State::current ? 1 : 0);
  page.head("settings_rejected", "gauge", "Keys of the ConfigMap that are invalid; the last good settings hold.");
  page.line("", status.rejected.size());
  page.head("settings_ignored", "gauge",
            "Settings of the ConfigMap without effect. unsupported: only Koordinator's manager acts on them.");
  page.line(label("reason", "unknown"), status.ignored.unknown);
  page.line(label("reason", "unsupported"), status.ignored.unsupported);
  add_objects(page, status);
  add_bounds(page, status, now);
  if (status.batch) {
    page.head("nodes", "gauge", "Nodes by the freshness of their reports.");
    for (const auto& [freshness, count] : status.batch->freshness(now))
      page.line(label("freshness", name_of(freshness)), count);
  }
  page.head("api_requests_total", "counter",
            "Requests to the API server, those about the Lease, of reviews and of the mirror aside.");
  page.line("", use.requests);
  return page.take();
}

std::string serve_metrics_text(const MetricServer::Status& status) {
  Page page;
  const auto one = [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
    page.head(name, type, help);
    page.line("", value);
  };
  one("serve_reading", "gauge", "Whether this replica serves reads of the aggregated API.", status.is_serving ? 1 : 0);
  one("serve_objects", "gauge", "NodeMetrics in memory.", status.objects.objects);
  one("serve_stale_objects", "gauge", "Those without a report for three periods.", status.stale);
  one("serve_object_bytes", "gauge", "Bytes of their texts, uncompressed.", status.objects.bytes);
  one("serve_watches", "gauge", "Open watches.", status.api.watches.open);
  one("serve_connections", "gauge", "Open connections.", status.server.open_connections);
  one("serve_requests_total", "counter", "Requests.", status.server.requests);
  one("serve_reports_total", "counter", "Reports that were stored.", status.api.reports);
  one("serve_events_total", "counter", "Events that were sent to watches.", status.api.watches.events);
  page.head("serve_refused_total", "counter", "Refused requests by reason.");
  const std::pair<std::string_view, std::uint64_t> reasons[] = {{"unauthenticated", status.access.unauthenticated},
                                                                {"forbidden", status.access.forbidden},
                                                                {"limited", status.access.limited},
                                                                {"overload", status.server.refused_requests},
                                                                {"unavailable", status.access.unavailable},
                                                                {"standby", status.standby},
                                                                {"other_node", status.api.other_nodes},
                                                                {"conflict", status.api.conflicts},
                                                                {"invalid", status.api.invalid}};
  for (const auto& [reason, count] : reasons) page.line(label("reason", reason), count);
  page.head("serve_ended_watches_total", "counter", "Watches that were ended early by reason.");
  page.line(label("reason", "slow"), status.api.watches.slow);
  page.line(label("reason", "expired"), status.api.watches.expired);
  page.head("serve_reviews_total", "counter", "Reviews that the API server was asked for.");
  page.line(label("kind", "TokenReview"), status.reviews.token_reviews);
  page.line(label("kind", "SubjectAccessReview"), status.reviews.access_reviews);
  one("serve_failed_handshakes_total", "counter", "TLS handshakes that failed.", status.server.failed_handshakes);
  one("serve_refused_connections_total", "counter", "Connections that were refused or closed at a limit.",
      status.server.refused_connections + status.server.displaced_connections);
  if (!status.mirrored) return page.take();
  page.head("mirror_writes_total", "counter", "Writes of reports to NodeMetrics of slo.koordinator.sh by result.");
  page.line(label("result", "written"), status.mirrored->written);
  page.line(label("result", "absent"), status.mirrored->absent);
  page.line(label("result", "failed"), status.mirrored->failed);
  return page.take();
}

}  // namespace koord::manager
