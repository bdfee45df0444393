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

// Both may be missing in the object.
void add_classes(json::object& object, const std::string& priority, const std::string& qos) {
  if (!priority.empty()) object["priority"] = priority;
  if (!qos.empty()) object["qos"] = qos;
}

json::array pods(const std::vector<PodUsage>& pods) {
  json::array list;
  for (const PodUsage& pod : pods) {
    json::object object{{"name", pod.name}, {"namespace", pod.name_space}, {"podUsage", resource_map(pod.usage)}};
    add_classes(object, pod.priority, pod.qos);
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

std::string to_json(const NodeMetricStatus& status) {
  json::object object{{"updateTime", format_timestamp(status.update_seconds)}, {"nodeMetric", node_metric(status)}};
  if (!status.pods.empty()) object["podsMetric"] = pods(status.pods);
  if (!status.applications.empty()) object["hostApplicationMetric"] = applications(status.applications);
  object["prodReclaimableMetric"] = prediction(status.prod_reclaimable);
  if (status.prod_peak) object["prodPeakMetric"] = prediction(status.prod_peak);
  return json::serialize(object);
}

}  // namespace koord::report
