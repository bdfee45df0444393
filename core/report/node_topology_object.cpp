// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/json.hpp>

#include "core/base/quantity.hpp"
#include "core/report/annotations.hpp"
#include "core/report/json_text.hpp"
#include "core/report/node_topology.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

bool put_annotations(json::object& annotations, const std::map<std::string, std::string>& ours) {
  bool changed = false;
  for (const auto& [name, text] : ours) {
    if (same_json(json_text(annotations, name), text)) continue;
    annotations[name] = text;
    changed = true;
  }
  return changed;
}

bool put_degraded(json::object& annotations, const std::string& text) {
  if (json_text(annotations, kDegradedAnnotation) == text) return false;
  if (text.empty())
    annotations.erase(json_view(kDegradedAnnotation));
  else
    annotations[json_view(kDegradedAnnotation)] = text;
  return true;
}

bool put_labels(json::object& labels, const std::map<std::string, std::optional<std::string>>& ours) {
  bool changed = false;
  for (const auto& [name, value] : ours) {
    if (value ? json_text(labels, name) == *value : !labels.contains(name)) continue;
    if (value)
      labels[name] = *value;
    else
      labels.erase(name);
    changed = true;
  }
  return changed;
}

std::string format(const std::string& resource, std::int64_t amount) {
  return resource == "cpu" ? format_decimal_milli(amount) : format_binary(amount);
}

bool says(const json::object& resource, std::string_view member, const std::string& name, std::int64_t amount) {
  const Result<Quantity> quantity = Quantity::parse(json_text(resource, member));
  return quantity && (name == "cpu" ? quantity->milli() : quantity->value()) == amount;
}

bool same_resource(const json::object& theirs, const std::string& name, const ZoneResource& ours) {
  return says(theirs, "capacity", name, ours.capacity) && says(theirs, "allocatable", name, ours.allocatable);
}

json::object resource_object(const std::string& name, const ZoneResource& resource) {
  return {{"name", name},
          {"capacity", format(name, resource.capacity)},
          {"allocatable", format(name, resource.allocatable)},
          {"available", format(name, resource.allocatable)}};
}

const json::value* find_named(const json::array& list, std::string_view name) {
  auto found = std::find_if(list.begin(), list.end(),
                            [name](const json::value& item) { return json_text(item, "name") == name; });
  return found == list.end() ? nullptr : found;
}

// Replaces our resources in a zone of the object. Resources of others do not change.
json::object merge_zone(const Zone& zone, const json::value* there, bool& changed) {
  json::object merged = there != nullptr ? there->get_object() : json::object();
  const json::array old = json_list(merged, "resources");
  json::array resources;
  for (const json::value& item : old) {
    if (!zone.resources.contains(json_text(item, "name"))) resources.push_back(item);
  }
  for (const auto& [name, resource] : zone.resources) {
    const json::value* mine = find_named(old, name);
    const bool same = mine != nullptr && same_resource(mine->get_object(), name, resource);
    changed = changed || !same;
    resources.push_back(same ? *mine : json::value(resource_object(name, resource)));
  }
  std::sort(resources.begin(), resources.end(),
            [](const json::value& a, const json::value& b) { return json_text(a, "name") < json_text(b, "name"); });
  changed = changed || json_text(merged, "type") != "Node";
  merged["name"] = zone.name;
  merged["type"] = "Node";
  merged["resources"] = std::move(resources);
  return merged;
}

bool put_zones(json::object& root, const std::vector<Zone>& ours) {
  const json::array old = json_list(root, "zones");
  bool changed = old.size() != ours.size();
  json::array zones;
  for (const Zone& zone : ours) {
    const json::value* there = find_named(old, zone.name);
    changed = changed || there == nullptr;
    zones.push_back(merge_zone(zone, there, changed));
  }
  if (changed) root["zones"] = std::move(zones);
  return changed;
}

bool put_policy(json::object& root, const std::string& policy) {
  json::array wanted{json::value(policy)};
  json::value& policies = root["topologyPolicies"];
  if (policies == wanted) return false;
  policies = std::move(wanted);
  return true;
}

}  // namespace

Result<std::optional<std::string>> merge_node_topology(const NodeTopology& ours, std::string_view object) {
  json::object root = TRY(parse_root(object, "NodeResourceTopology"));
  json::object& metadata = object_in(root, "metadata");
  bool changed = put_annotations(object_in(metadata, "annotations"), ours.annotations);
  changed = put_degraded(object_in(metadata, "annotations"), ours.degraded) || changed;
  changed = put_labels(object_in(metadata, "labels"), ours.labels) || changed;
  changed = put_policy(root, ours.policy) || changed;
  changed = put_zones(root, ours.zones) || changed;
  return changed ? std::optional(json::serialize(root)) : std::nullopt;
}

std::string new_node_topology(const state::Node& node) {
  return json::serialize(json::object{
      {"apiVersion", "topology.node.k8s.io/v1alpha1"},
      {"kind", "NodeResourceTopology"},
      {"metadata", json::object{{"name", node.name},
                                {"labels", json::object{{"app.kubernetes.io/managed-by", "Koordinator"}}},
                                {"ownerReferences", json::array{json::value(owner_reference(node.name, node.uid))}}}},
      {"topologyPolicies", json::array{json::value("None")}},
      {"zones", json::array()}});
}

}  // namespace koord::report
