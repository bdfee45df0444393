// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_cluster.hpp"

#include <algorithm>
#include <array>

#include "core/base/parse.hpp"
#include "core/state/document.hpp"
#include "core/state/slo_merge.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

// The place of a section's settings in the ConfigMap.
struct Origin {
  std::string_view section, key, strategy, entries;
};
constexpr std::array<Origin, 5> kOrigins{{
    {"resourceUsedThresholdWithBE", "resource-threshold-config", "clusterStrategy", "nodeStrategies"},
    {"resourceQOSStrategy", "resource-qos-config", "clusterStrategy", "nodeStrategies"},
    {"cpuBurstStrategy", "cpu-burst-config", "clusterStrategy", "nodeStrategies"},
    {"systemStrategy", "system-config", "clusterStrategy", "nodeStrategies"},
    {"hostApplications", "host-application-config", "", "nodeConfigs"},
}};

std::string text_of(const json::value* value) {
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

ClusterSlo::ClusterSlo(std::string_view data) {
  if (trim(data).empty()) {
    problem_ = "the cluster has no such ConfigMap";
    return;
  }
  Result<json::value> map = read_json(data);
  if (!map || !map->is_object()) {
    problem_ =
        "the ConfigMap's data cannot be read: " + (map ? std::string("it is not a mapping") : map.error().message());
    return;
  }
  for (const auto& member : map->get_object()) {
    Result<json::value> document = read_json(text_of(&member.value()));
    if (document && document->is_object())
      documents_[member.key()] = *std::move(document);
    else
      documents_[member.key()] = document ? std::string("it is not a mapping") : document.error().message();
  }
  for (const Origin& origin : kOrigins) {
    const json::value* document = documents_.if_contains(origin.key);
    const json::value* entries = document ? find_member(*document, origin.entries) : nullptr;
    if (!entries || !entries->is_array()) continue;
    FirstSelector& selectors = selectors_[std::string(origin.key)];
    for (const json::value& entry : entries->get_array()) selectors.add(find_member(entry, "nodeSelector"));
  }
}

ClusterSection ClusterSlo::section(std::string_view section, const StringMap& node_labels) const {
  ClusterSection found;
  const auto origin =
      std::find_if(kOrigins.begin(), kOrigins.end(), [&](const Origin& o) { return o.section == section; });
  if (origin == kOrigins.end()) return found;
  found.key = origin->key;
  found.problem = problem_;
  const json::value* document = documents_.if_contains(origin->key);
  if (!document) return found;
  if (document->is_string()) {
    found.problem = found.key + " cannot be read: " + text_of(document) + "; the cluster keeps what it read before";
    return found;
  }
  found.document = document;
  found.strategy_name = origin->strategy;
  found.strategy = origin->strategy.empty() ? document : find_member(*document, origin->strategy);
  const json::value* entries = find_member(*document, origin->entries);
  found.list = entries;
  found.list_name = origin->entries;
  if (!entries || !entries->is_array()) return found;
  const json::array& list = entries->get_array();
  found.entries = list.size();
  const std::optional<std::size_t> index = selectors_.at(found.key).index_for(node_labels);
  if (!index) return found;
  found.entry = &list[*index];
  found.entry_title = std::string(origin->entries) + '[' + std::to_string(*index) + ']';
  if (const std::string name = text_of(find_member(*found.entry, "name")); !name.empty())
    found.entry_title += " '" + name + "'";
  return found;
}

}  // namespace koord::state
