// SPDX-License-Identifier: Apache-2.0
#include "core/manager/reported_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "core/manager/fresh_condition.hpp"
#include "core/manager/manager_log.hpp"

namespace koord::manager {
namespace {

constexpr std::size_t kMarkedAtOnce = 256;

// Returns nullopt if the status was damaged in memory. The node's next report replaces it.
std::optional<std::string> readable_status(const aggregated::Object& report) {
  Result<std::string> status = report.status();
  if (status) return *std::move(status);
  log::warn(manager_log, "the status of NodeMetric '{}' cannot be read, its next report is awaited: {}", report.name(),
            status.error().message());
  return std::nullopt;
}

}  // namespace

ReportedNodes::ReportedNodes(Parts parts, bool mirrors) : parts_(parts) {
  if (!mirrors) return;
  mirror_ = std::make_unique<MetricMirror>(MetricMirror::Parts{
      parts_.loop, parts_.clock, parts_.client, [this] { return parts_.served.leads(); },
      [this](const std::string& node) {
        const auto found = nodes_.find(node);
        return found == nodes_.end() ? std::string() : readable_status(*found->second.report).value_or("");
      }});
}

void ReportedNodes::lead(bool leads) {
  nodes_.clear();
  to_mark_.clear();
  if (leads) freshness_.lead(parts_.clock.now());
  if (!leads && mirror_) mirror_->end();
}

void ReportedNodes::take(const aggregated::PlainObject& report) {
  const std::string& name = report.object->name();
  if (!parts_.served.leads() || report.status().empty()) return;
  const auto known = nodes_.find(name);
  // Worker threads may deliver two reports of a node in the wrong order.
  if (known != nodes_.end() && known->second.report->version() > report.object->version()) return;
  nodes_[name] = {report.object, false};
  to_mark_.erase(name);
  freshness_.report(name, parts_.clock.now(), stated_period(report.status()));
  if (mirror_) mirror_->report(name, report.status());
}

// Does nothing while a new epoch still waits for its first reports.
void ReportedNodes::check() {
  if (!parts_.served.leads() || parts_.served.is_filling()) return;
  forget_missing();
  for (ReportFreshness::Change& change : freshness_.changes(parts_.clock.now()))
    if (!change.is_fresh && nodes_.contains(change.node)) to_mark_.insert_or_assign(change.node, std::move(change));
  std::size_t left = kMarkedAtOnce;
  for (auto next = to_mark_.begin(); next != to_mark_.end() && left > 0; --left)
    next = mark_stale(next->second) ? to_mark_.erase(next) : std::next(next);
}

void ReportedNodes::forget_missing() {
  for (auto next = nodes_.begin(); next != nodes_.end();) {
    if (parts_.served.find(next->first)) {
      ++next;
      continue;
    }
    freshness_.forget(next->first);
    to_mark_.erase(next->first);
    if (mirror_) mirror_->forget(next->first);
    next = nodes_.erase(next);
  }
}

// Returns false if the caller must try again. If the stored status differs from the report's, a newer report has
// arrived, which take() will receive soon.
bool ReportedNodes::mark_stale(const ReportFreshness::Change& change) {
  Node& node = nodes_.at(change.node);
  const aggregated::ObjectPtr current = parts_.served.find(change.node);
  if (!current) return true;
  if (current->kept_status() != node.report->kept_status()) return false;
  const std::optional<std::string> reported = readable_status(*current);
  if (!reported) return true;
  std::string status =
      with_report_missing(*reported, change.since_last_seconds, parts_.clock.wall_ns() / 1'000'000'000);
  if (status.empty()) return true;
  if (parts_.served.put_status(current, std::move(status)) != aggregated::Store::Put::done) return false;
  node.is_stale = true;
  return true;
}

std::size_t ReportedNodes::stale() const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.is_stale; }));
}

std::optional<MetricMirror::Counts> ReportedNodes::mirrored() const {
  return mirror_ ? std::optional(mirror_->counts()) : std::nullopt;
}

std::string ReportedNodes::problem() const { return mirror_ ? mirror_->problem() : std::string(); }

}  // namespace koord::manager
