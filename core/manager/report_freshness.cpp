// SPDX-License-Identifier: Apache-2.0
#include "core/manager/report_freshness.hpp"

#include <algorithm>

#include "core/base/parse.hpp"
#include "core/json/scanner.hpp"

namespace koord::manager {

std::optional<Duration> stated_period(std::string_view status) {
  const std::string_view begin = status.substr(0, kPeriodWithin);
  std::string_view found;
  JsonScanner text(begin);
  // The callback returns an error to stop the scan at the member. The scan also fails if `begin` ends in the middle of
  // a member.
  const Result<void> rest = text.object([&](std::string_view key) -> Result<void> {
    const std::string_view value = TRY(text.value());
    if (key != "reportIntervalSeconds") return {};
    found = value;
    return invalid("found");
  });
  const bool is_cut = found.empty() || (begin.size() < status.size() && found.end() == begin.end());
  if (rest || is_cut) return std::nullopt;
  const Result<std::int64_t> seconds = parse_int(found);
  if (!seconds || *seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min<std::int64_t>(*seconds, 3600));
}

// Returns the stated period, else the longest of the last intervals. So one late report does not make the next report
// late.
Duration ReportFreshness::Node::period() const {
  if (stated) return std::clamp<Duration>(*stated, kLeastPeriod, kMostPeriod);
  if (std::find(intervals.begin(), intervals.end(), Duration::zero()) != intervals.end()) return kMostPeriod;
  return std::clamp<Duration>(*std::max_element(intervals.begin(), intervals.end()), kLeastPeriod, kMostPeriod);
}

bool ReportFreshness::is_fresh(const Node& node, Time now) const {
  const Time from = std::max(node.last, led_since_);
  return now - from <= kPeriodsFresh * node.period();
}

void ReportFreshness::lead(Time now) {
  led_since_ = now;
  for (auto& [name, node] : nodes_) node.is_reported = false;
}

void ReportFreshness::report(const std::string& node, Time now, std::optional<Duration> stated) {
  const auto [found, is_new] = nodes_.try_emplace(node);
  Node& known = found->second;
  // Does not count silence, or the time while a different replica led, as an interval.
  if (!is_new && now - known.last <= kPeriodsFresh * known.period()) {
    known.intervals[known.next] = std::max(now - known.last, Duration(1));
    known.next = (known.next + 1) % known.intervals.size();
  }
  known.last = now;
  known.stated = stated;
}

void ReportFreshness::forget(std::string_view node) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) nodes_.erase(found);
}

std::vector<ReportFreshness::Change> ReportFreshness::changes(Time now) {
  std::vector<Change> changed;
  for (auto& [name, node] : nodes_) {
    const bool fresh = is_fresh(node, now);
    if (node.is_reported && node.reported_fresh == fresh) continue;
    node.is_reported = true;
    node.reported_fresh = fresh;
    changed.push_back({name, fresh, std::chrono::duration_cast<std::chrono::seconds>(now - node.last).count()});
  }
  return changed;
}

bool ReportFreshness::is_fresh(std::string_view node, Time now) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && is_fresh(found->second, now);
}

Duration ReportFreshness::period_of(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? kMostPeriod : found->second.period();
}

}  // namespace koord::manager
