// SPDX-License-Identifier: Apache-2.0
#include "core/report/reported.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include "core/base/quantity.hpp"
#include "core/base/timestamp.hpp"
#include "core/report/annotations.hpp"
#include "core/report/json_text.hpp"
#include "core/state/objects.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

std::optional<Amounts> amounts_of(const json::value& resource_map) {
  const json::value& resources = json_mapping(resource_map, "resources");
  const Result<Quantity> cpu = Quantity::parse(json_text(resources, "cpu"));
  const Result<Quantity> memory = Quantity::parse(json_text(resources, "memory"));
  if (!cpu || !memory) return std::nullopt;
  return Amounts{cpu->milli(), memory->value()};
}

void read_node(const json::value& node, UsageSummary& usage) {
  usage.node = amounts_of(json_mapping(node, "nodeUsage"));
  usage.system = amounts_of(json_mapping(node, "systemUsage"));
  for (const json::value& window : json_list(node, "aggregatedNodeUsages")) {
    if (amounts_of(json_mapping(json_mapping(window, "usage"), "avg")))
      usage.windows.emplace(json_text(window, "duration"));
  }
}

double relative(std::int64_t before, std::int64_t after, std::int64_t capacity) {
  if (before == after) return 0;
  const std::int64_t whole = capacity > 0 ? capacity : std::max(before, after);
  return 100 * std::abs(static_cast<double>(after) - static_cast<double>(before)) /
         static_cast<double>(std::max<std::int64_t>(whole, 1));
}

double apart(const Amounts& before, const Amounts& after, const Amounts& capacity) {
  return std::max(relative(before.cpu_milli, after.cpu_milli, capacity.cpu_milli),
                  relative(before.memory_bytes, after.memory_bytes, capacity.memory_bytes));
}

double apart(const std::optional<Amounts>& before, const std::optional<Amounts>& after, const Amounts& capacity) {
  if (before.has_value() != after.has_value()) return kBeyondMeasure;
  return before ? apart(*before, *after, capacity) : 0;
}

template <class Map>
double apart_in(const Map& before, const Map& after, const Amounts& capacity) {
  if (before.size() != after.size()) return kBeyondMeasure;
  double most = 0;
  for (auto was = before.begin(), is = after.begin(); was != before.end(); ++was, ++is) {
    if (was->first != is->first) return kBeyondMeasure;
    most = std::max(most, apart(was->second, is->second, capacity));
  }
  return most;
}

}  // namespace

UsageSummary usage_of(const NodeMetricStatus& status) {
  UsageSummary usage{status.node.amounts,         status.system.amounts, status.prod_reclaimable, {}, {}, {},
                     status.prod_peak.has_value()};
  for (const PodUsage& pod : status.pods)
    usage.pods.emplace(std::pair(pod.name_space, pod.name), pod.usage.amounts.value_or(Amounts()));
  for (const ApplicationUsage& application : status.applications)
    usage.applications.emplace(application.name, application.usage.amounts.value_or(Amounts()));
  for (const AggregatedUsage& window : status.node_windows) {
    if (window.usages[0].amounts) usage.windows.insert(format_go_duration(window.window));
  }
  return usage;
}

Result<Reported> parse_reported(std::string_view node_metric) {
  const json::object root = TRY(parse_root(node_metric, "NodeMetric"));
  const json::value& status = json_mapping(root, "status");
  Reported reported;
  if (auto time = parse_timestamp(json_text(status, "updateTime"))) reported.update_seconds = *time / 1'000'000'000;
  UsageSummary& usage = reported.usage;
  read_node(json_mapping(status, "nodeMetric"), usage);
  for (const json::value& pod : json_list(status, "podsMetric")) {
    usage.pods.emplace(std::pair(json_text(pod, "namespace"), json_text(pod, "name")),
                       amounts_of(json_mapping(pod, "podUsage")).value_or(Amounts()));
  }
  for (const json::value& application : json_list(status, "hostApplicationMetric")) {
    usage.applications.emplace(json_text(application, "name"),
                               amounts_of(json_mapping(application, "usage")).value_or(Amounts()));
  }
  usage.prod_reclaimable = amounts_of(json_mapping(json_mapping(status, "prodReclaimableMetric"), "resource"));
  usage.has_peak = amounts_of(json_mapping(json_mapping(status, "prodPeakMetric"), "resource")).has_value();
  reported.degraded = json_text(json_mapping(json_mapping(root, "metadata"), "annotations"), kDegradedAnnotation);
  return reported;
}

double change(const UsageSummary& before, const UsageSummary& after, const Amounts& capacity) {
  if (before.windows != after.windows || before.has_peak != after.has_peak) return kBeyondMeasure;
  return std::max({apart(before.node, after.node, capacity), apart(before.system, after.system, capacity),
                   apart(before.prod_reclaimable, after.prod_reclaimable, capacity),
                   apart_in(before.pods, after.pods, capacity),
                   apart_in(before.applications, after.applications, capacity)});
}

}  // namespace koord::report
