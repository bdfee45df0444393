// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "core/base/timestamp.hpp"
#include "core/report/json_text.hpp"
#include "core/report/node_metric.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

constexpr const char* kAggregationNames[] = {"avg", "p50", "p90", "p95", "p99"};

json::array windows(const std::vector<AggregatedUsage>& windows) {
  json::array list;
  for (const AggregatedUsage& one : windows) {
    json::object usage;
    for (std::size_t i = 0; i < one.usages.size(); ++i) usage[kAggregationNames[i]] = resource_map(one.usages[i]);
    list.push_back(json::object{{"usage", std::move(usage)}, {"duration", format_go_duration(one.window)}});
  }
  return list;
}

json::object node_metric(const NodeMetricStatus& status) {
  json::object node{{"nodeUsage", resource_map(status.node)}};
  if (!status.node_windows.empty()) node["aggregatedNodeUsages"] = windows(status.node_windows);
  node["systemUsage"] = resource_map(status.system);
  if (!status.system_windows.empty()) node["aggregatedSystemUsages"] = windows(status.system_windows);
  json::array numa;
  for (const NumaUsage& one : status.numa)
    numa.push_back(json::object{
        {"numaNodeID", one.id}, {"nodeUsage", resource_map(one.node)}, {"systemUsage", resource_map(one.system)}});
  if (!numa.empty()) node["numaUsages"] = std::move(numa);
  return node;
}

// Adds the classes. Each may be missing in the object.
void add_classes(json::object& object, const std::string& priority, const std::string& qos) {
  if (!priority.empty()) object["priority"] = priority;
  if (!qos.empty()) object["qos"] = qos;
}

void add_number(json::object& object, const char* name, std::optional<double> value) {
  if (value) object[name] = *value;
}

json::object suspect(const PodSuspect& suspect) {
  json::object object{{"kind", suspect.kind}, {"name", suspect.name}};
  add_number(object, "share", suspect.share);
  return object;
}

json::object interference(const PodInterference& found) {
  json::object object{{"resource", found.resource},
                      {"kind", found.kind},
                      {"method", found.method},
                      {"since", format_timestamp(found.since_seconds)}};
  if (!found.container.empty()) object["container"] = found.container;
  add_number(object, "severity", found.severity);
  json::array suspects;
  for (const PodSuspect& one : found.suspects) suspects.push_back(suspect(one));
  if (!suspects.empty()) object["suspects"] = std::move(suspects);
  return object;
}

void add_details(json::object& object, const PodDetails& details) {
  if (details.pressure.is_known()) {
    json::object pressure;
    add_number(pressure, "schedulingDelaySeconds", details.pressure.scheduling_delay);
    add_number(pressure, "memoryStallSeconds", details.pressure.memory_stall);
    add_number(pressure, "ioStallSeconds", details.pressure.io_stall);
    object["pressure"] = std::move(pressure);
  }
  json::array list;
  for (const PodInterference& one : details.interference) list.push_back(interference(one));
  if (!list.empty()) object["interference"] = std::move(list);
}

json::array pods(const std::vector<PodUsage>& pods, const DetailsOfPods& details) {
  json::array list;
  for (const PodUsage& pod : pods) {
    json::object object{{"name", pod.name}, {"namespace", pod.name_space}, {"podUsage", resource_map(pod.usage)}};
    add_classes(object, pod.priority, pod.qos);
    const auto found = details.find({pod.name_space, pod.name});
    if (found != details.end()) add_details(object, found->second);
    list.push_back(std::move(object));
  }
  return list;
}

json::array applications(const std::vector<ApplicationUsage>& applications) {
  json::array list;
  for (const ApplicationUsage& application : applications) {
    json::object object{{"name", application.name}, {"usage", resource_map(application.usage)}};
    add_classes(object, application.priority, application.qos);
    list.push_back(std::move(object));
  }
  return list;
}

json::object prediction(const std::optional<Amounts>& amounts) { return {{"resource", resource_map({amounts})}}; }

}  // namespace

std::string to_json(const NodeMetricStatus& status) { return to_json(status, {}); }

std::string to_json(const NodeMetricStatus& status, const DetailsOfPods& details, Duration period) {
  json::object object{{"updateTime", format_timestamp(status.update_seconds)}};
  if (period > Duration::zero())
    object["reportIntervalSeconds"] = std::chrono::ceil<std::chrono::seconds>(period).count();
  object["nodeMetric"] = node_metric(status);
  if (!status.pods.empty()) object["podsMetric"] = pods(status.pods, details);
  if (!status.applications.empty()) object["hostApplicationMetric"] = applications(status.applications);
  object["prodReclaimableMetric"] = prediction(status.prod_reclaimable);
  if (status.prod_peak) object["prodPeakMetric"] = prediction(status.prod_peak);
  return json::serialize(object);
}

}  // namespace koord::report
