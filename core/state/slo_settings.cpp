// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_settings.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <span>

#include "core/base/parse.hpp"
#include "core/base/quantity.hpp"
#include "core/json/reader.hpp"
#include "core/state/label_selector.hpp"
#include "core/state/slo_cluster.hpp"
#include "core/state/slo_merge.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

constexpr std::string_view kBandwidth = "node.koordinator.sh/network-bandwidth";

// Returns whether the NodeSLO contains the defaults of this section. The agent adds the defaults of
// resourceQOSStrategy.
bool states_defaults(std::string_view section) {
  return section == "resourceUsedThresholdWithBE" || section == "cpuBurstStrategy" || section == "systemStrategy";
}

json::value known_part(const json::value& value, const SloField& field);

json::object known_members(const json::value& value, std::span<const SloField> fields) {
  json::object known;
  for (const SloField& field : fields)
    if (const json::value* member = find_member(value, field.name)) known[field.name] = known_part(*member, field);
  return known;
}

// Returns the value without fields that are missing from the schema, as an API server stores it, and with the schema's
// names. A value of a different type is kept, so that it is reported.
json::value known_part(const json::value& value, const SloField& field) {
  if (field.type == SloType::object && value.is_object()) return known_members(value, field.fields);
  if (field.type != SloType::list || !value.is_array()) return value;
  json::array list;
  for (const json::value& entry : value.get_array())
    list.push_back(entry.is_object() ? json::value(known_members(entry, field.fields)) : entry);
  return list;
}

// Merges mappings. A list replaces the base; null and missing members keep it.
void lay_over(json::object& base, const json::object& over) {
  for (const auto& member : over) {
    json::value* below = base.if_contains(member.key());
    if (below && below->is_object() && member.value().is_object())
      lay_over(below->get_object(), member.value().get_object());
    else if (!member.value().is_null())
      base[member.key()] = member.value();
  }
}

json::object defaults_of(const SloField& section) {
  json::object defaults;
  if (!states_defaults(section.name)) return defaults;
  for (const SloField& field : section.fields)
    if (std::optional<json::value> value = default_of(field, SloProfile::general)) defaults[field.name] = *value;
  return defaults;
}

// Returns the section with the settings for all nodes, overridden by the settings of one entry.
std::optional<json::value> merged_section(const SloField& section, const json::value* cluster,
                                          const json::value* entry) {
  if (section.type == SloType::list) {
    const json::value* list = entry ? find_member(*entry, "applications") : nullptr;
    if (!list && cluster) list = find_member(*cluster, "applications");
    return list ? std::optional(known_part(*list, section)) : std::nullopt;
  }
  json::object merged = defaults_of(section);
  if (cluster) lay_over(merged, known_members(*cluster, section.fields));
  if (entry) lay_over(merged, known_members(*entry, section.fields));
  return merged;
}

class DocumentCheck {
 public:
  explicit DocumentCheck(const SloField& section) : section_(section) {}

  std::vector<std::string> run(const ClusterSection& settings) {
    check_mapping(settings.strategy, "clusterStrategy");
    check_values(settings.strategy, nullptr, "");
    if (settings.list && !settings.list->is_array())
      add("", "found " + shown(*settings.list) + ", expected a list of nodes' settings");
    if (!settings.list || !settings.list->is_array()) return std::move(reasons_);
    const json::array& list = settings.list->get_array();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string title = settings.list_name + '[' + std::to_string(i) + ']';
      if (!check_mapping(&list[i], title)) continue;
      if (std::string problem = selector_problem(find_member(list[i], "nodeSelector")); !problem.empty())
        add(title + ".nodeSelector", problem);
      check_values(settings.strategy, &list[i], title);
    }
    return std::move(reasons_);
  }

 private:
  bool check_mapping(const json::value* value, const std::string& where) {
    if (!value || value->is_object()) return true;
    add(where, "found " + shown(*value) + ", expected a mapping");
    return false;
  }

  void check_values(const json::value* cluster, const json::value* entry, const std::string& title) {
    std::optional<json::value> merged = merged_section(section_, cluster, entry);
    if (!merged) return;
    json::object spec;
    spec[section_.name] = *std::move(merged);
    std::vector<SloProblem> problems;
    merge_slo(spec, problems);
    for (const SloProblem& problem : problems) {
      const std::string text = problem.path + ": found " + problem.found + ", expected " + problem.expected;
      // An invalid value for all nodes is found again in each entry. It is reported once.
      if (std::find(of_cluster_.begin(), of_cluster_.end(), text) != of_cluster_.end()) continue;
      if (!entry) of_cluster_.push_back(text);
      add(title, text);
    }
  }

  void add(const std::string& where, const std::string& text) {
    reasons_.push_back(where.empty() ? text : where + ": " + text);
  }

  const SloField& section_;
  std::vector<std::string> reasons_, of_cluster_;
};

std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (std::size_t i = 0; i < reasons.size() && i < SloSettings::kMostReasons; ++i)
    text += (text.empty() ? "" : "; ") + reasons[i];
  if (reasons.size() > SloSettings::kMostReasons)
    text += "; and " + std::to_string(reasons.size() - SloSettings::kMostReasons) + " more";
  return text;
}

// Returns why this document is rejected; empty: it is valid.
std::string fault_of(const SloField& section, const std::string& key, const std::string& document) {
  const Result<json::object> readable = read_json_object(document);
  if (!readable) return readable.error().message();
  const ClusterSlo alone(json::serialize(json::object{{key, document}}));
  const ClusterSection settings = alone.section(section.name, {});
  return joined(DocumentCheck(section).run(settings));
}

// Sets the bandwidth from the node's own annotation. Returns the problem with it.
std::string apply_bandwidth(const StringMap& annotations, json::object& spec) {
  const auto annotation = annotations.find(kBandwidth);
  if (annotation == annotations.end() || annotation->second.empty()) return {};
  const Result<Quantity> bandwidth = Quantity::parse(annotation->second);
  if (bandwidth && bandwidth->value() >= 0) {
    if (json::value* system = spec.if_contains("systemStrategy"); system && system->is_object())
      system->get_object()["totalNetworkBandwidth"] = annotation->second;
    return {};
  }
  if (const auto system = spec.find("systemStrategy"); system != spec.end()) spec.stable_erase(system);
  return "annotation " + std::string(kBandwidth) + ": found " + shown(json::value(annotation->second)) +
         ", expected a quantity such as \"10G\"; the node has no systemStrategy";
}

}  // namespace

std::string text_of(const SettingsProblem& problem) {
  const std::string subject = problem.key.empty() ? "" : problem.key + ": ";
  return subject + problem.text + (problem.kept ? ", keeping the last good settings" : ", keeping the defaults");
}

SloSettings::SloSettings() : cluster_(std::make_shared<const ClusterSlo>("")) {}

std::vector<SettingsProblem> SloSettings::take(std::string_view data) {
  if (trim(data).empty()) {
    good_.clear();
    cluster_ = std::make_shared<const ClusterSlo>("");
    return {};
  }
  const Result<json::object> map = read_json_object(data);
  if (!map) return {{"", "the ConfigMap's data cannot be read: " + map.error().message(), !good_.empty()}};
  std::vector<SettingsProblem> problems;
  for (const SloField& section : slo_schema()) {
    const std::string key = ClusterSlo("{}").section(section.name, {}).key;
    if (key.empty()) continue;
    const json::value* document = map->if_contains(key);
    if (!document || document->is_null()) {
      good_.erase(key);
      continue;
    }
    const std::string text = document->is_string() ? std::string(document->get_string()) : json::serialize(*document);
    if (std::string fault = fault_of(section, key, text); !fault.empty())
      problems.push_back({key, std::move(fault), good_.contains(key)});
    else
      good_[key] = text;
  }
  json::object good;
  for (const auto& [key, document] : good_) good[key] = document;
  cluster_ = std::make_shared<const ClusterSlo>(json::serialize(good));
  return problems;
}

SloSettings::NodeSpec SloSettings::spec_of(const StringMap& labels, const StringMap& annotations) const {
  json::object spec;
  for (const SloField& section : slo_schema()) {
    const ClusterSection settings = cluster_->section(section.name, labels);
    if (settings.key.empty()) continue;
    if (std::optional<json::value> merged = merged_section(section, settings.strategy, settings.entry))
      spec[section.name] = *std::move(merged);
  }
  NodeSpec made;
  made.problem = apply_bandwidth(annotations, spec);
  made.spec = json::serialize(spec);
  return made;
}

}  // namespace koord::state
