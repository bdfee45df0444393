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


const json::array& list_of(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* value = object.if_contains(json_view(name));
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

const json::object& object_of(const json::value& value) {
  static const json::object none;
  return value.is_object() ? value.get_object() : none;
}

std::optional<Amounts> amounts_of(const json::object& resource_map) {
  const json::object& resources = member_of(resource_map, "resources");
  const Result<Quantity> cpu = Quantity::parse(text_of(resources, "cpu"));
  const Result<Quantity> memory = Quantity::parse(text_of(resources, "memory"));
  if (!cpu || !memory) return std::nullopt;
  return Amounts{cpu->milli(), memory->value()};
}

void read_node(const json::object& node, UsageSummary& usage) {
  usage.node = amounts_of(member_of(node, "nodeUsage"));
  usage.system = amounts_of(member_of(node, "systemUsage"));
  for (const json::value& item : list_of(node, "aggregatedNodeUsages")) {
    const json::object& window = object_of(item);
    if (amounts_of(member_of(member_of(window, "usage"), "avg"))) usage.windows.emplace(text_of(window, "duration"));
  }
}

double relative(std::int64_t before, std::int64_t after, std::int64_t capacity) {
  if (before == after) return 0;
  const std::int64_t whole = capacity > 0 ? capacity : std::max(before, after);
  return 100 * std::abs(static_cast<double>(after) - static_cast<double>(before)) / static_cast<double>(std::max<std::int64_t>(whole, 1));
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
  UsageSummary usage{status.node.amounts, status.system.amounts, status.prod_reclaimable, {}, {}, {}, status.prod_peak.has_value()};
  for (const PodUsage& pod : status.pods) usage.pods.emplace(std::pair(pod.name_space, pod.name), pod.usage.amounts.value_or(Amounts()));
  for (const ApplicationUsage& application : status.applications)
    usage.applications.emplace(application.name, application.usage.amounts.value_or(Amounts()));
  for (const AggregatedUsage& window : status.node_windows) {
    if (window.usages[0].amounts) usage.windows.insert(format_go_duration(window.window));
  }
  return usage;
}

Result<Reported> parse_reported(std::string_view node_metric) {
  const json::object root = TRY(parse_root(node_metric, "NodeMetric"));
  const json::object& status = member_of(root, "status");
  Reported reported;
  if (auto time = parse_timestamp(text_of(status, "updateTime"))) reported.update_seconds = *time / 1'000'000'000;
  UsageSummary& usage = reported.usage;
  read_node(member_of(status, "nodeMetric"), usage);
  for (const json::value& item : list_of(status, "podsMetric")) {
    const json::object& pod = object_of(item);
    usage.pods.emplace(std::pair(text_of(pod, "namespace"), text_of(pod, "name")),
                         amounts_of(member_of(pod, "podUsage")).value_or(Amounts()));
  }
  for (const json::value& item : list_of(status, "hostApplicationMetric")) {
    const json::object& application = object_of(item);
    usage.applications.emplace(text_of(application, "name"), amounts_of(member_of(application, "usage")).value_or(Amounts()));
  }
  usage.prod_reclaimable = amounts_of(member_of(member_of(status, "prodReclaimableMetric"), "resource"));
  usage.has_peak = amounts_of(member_of(member_of(status, "prodPeakMetric"), "resource")).has_value();
  reported.degraded = text_of(member_of(member_of(root, "metadata"), "annotations"), kDegradedAnnotation);
  return reported;
}

double change(const UsageSummary& before, const UsageSummary& after, const Amounts& capacity) {
  if (before.windows != after.windows || before.has_peak != after.has_peak) return kBeyondMeasure;
  return std::max({apart(before.node, after.node, capacity),
                   apart(before.system, after.system, capacity),
                   apart(before.prod_reclaimable, after.prod_reclaimable, capacity),
                   apart_in(before.pods, after.pods, capacity), apart_in(before.applications, after.applications, capacity)});
}

}  // namespace koord::report
