// SPDX-License-Identifier: Apache-2.0
#include "core/manager/report_freshness.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "core/base/timestamp.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxConditions = 16;

json::object fresh_condition(const ReportFreshness::Change& change) {
  if (change.is_fresh)
    return {{"type", "Fresh"}, {"status", "True"}, {"reason", "Reported"}, {"message", "the report is current"}};
  return {{"type", "Fresh"},
          {"status", "False"},
          {"reason", "NoReport"},
          {"message", "no report for " + std::to_string(change.since_last_seconds) + " s"}};
}

}  // namespace

// The longest of the last intervals: a report that comes late once does not make the next one late.
Duration ReportFreshness::Node::period() const {
  if (std::find(intervals.begin(), intervals.end(), Duration::zero()) != intervals.end()) return kMostPeriod;
  return std::clamp<Duration>(*std::max_element(intervals.begin(), intervals.end()), kLeastPeriod, kMostPeriod);
}

bool ReportFreshness::is_fresh(const Node& node, Time now) const {
  const Time from = std::max(node.last, led_since_);
  return now - from <= kPeriodsFresh * node.period();
}

void ReportFreshness::lead(Time now) {
  led_since_ = now;
  for (auto& [name, node] : nodes_) node.is_told = false;
}

void ReportFreshness::report(const std::string& node, Time now) {
  const auto [found, is_new] = nodes_.try_emplace(node);
  Node& known = found->second;
  // Silence is no period, nor is the time while another replica led.
  if (!is_new && now - known.last <= kPeriodsFresh * known.period()) {
    known.intervals[known.next] = std::max(now - known.last, Duration(1));
    known.next = (known.next + 1) % known.intervals.size();
  }
  known.last = now;
}

void ReportFreshness::forget(std::string_view node) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) nodes_.erase(found);
}

std::vector<ReportFreshness::Change> ReportFreshness::changes(Time now) {
  std::vector<Change> changed;
  for (auto& [name, node] : nodes_) {
    const bool fresh = is_fresh(node, now);
    if (node.is_told && node.told_fresh == fresh) continue;
    node.is_told = true;
    node.told_fresh = fresh;
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

Result<std::string> with_fresh_condition(std::string_view status, const ReportFreshness::Change& change,
                                         std::int64_t now_seconds) {
  json::object object = TRY(read_json_object(status));
  json::array conditions;
  json::object wanted = fresh_condition(change);
  wanted["lastTransitionTime"] = format_timestamp(now_seconds);
  for (const json::value& condition : json_list(object, "conditions")) {
    if (json_text(condition, "type") != "Fresh") {
      if (conditions.size() < kMaxConditions) conditions.push_back(condition);
    } else if (json_text(condition, "status") == json_text(wanted, "status")) {
      if (std::string since = json_text(condition, "lastTransitionTime"); !since.empty())
        wanted["lastTransitionTime"] = since;
    }
  }
  conditions.push_back(std::move(wanted));
  object.erase("conditions");  // so that they come last
  object["conditions"] = std::move(conditions);
  return json::serialize(object);
}

}  // namespace koord::manager
