// SPDX-License-Identifier: Apache-2.0
#include "core/manager/ignored_settings.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <span>
#include <string_view>

#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/manager/colocation.hpp"
#include "core/state/slo_cluster.hpp"
#include "core/state/slo_schema.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;
using state::SloField, state::SloType;
using Names = std::vector<std::string>;

constexpr std::size_t kMostName = 64;
constexpr std::string_view kApplications = "applications";
constexpr std::array<std::string_view, 2> kKeysOfKoordinator{"cpu-normalization-config",
                                                             "resource-amplification-config"};
constexpr std::array<std::string_view, 2> kFieldsOfKoordinator{"midReclaimMode", "extensions"};

template <class Texts>
bool contains(const Texts& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view one) { return equal_but_case(one, name); });
}

const SloField* find_field(std::span<const SloField> fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const SloField& field) { return equal_but_case(field.name, name); });
  return found == fields.end() ? nullptr : &*found;
}

Names names_of(std::span<const SloField> fields, const Names& others) {
  Names names = others;
  for (const SloField& field : fields) names.emplace_back(field.name);
  return names;
}

class Search {
 public:
  explicit Search(IgnoredSettings& found) : found_(found) {}

  void unknown(const std::string& path, std::string_view name, const Names& known) {
    ++found_.unknown;
    const std::string near = nearest(name.substr(0, kMostName), known);
    add(path, name, near.empty() ? "unknown, ignored" : "unknown, ignored, did you mean '" + near + "'?");
  }
  void unsupported(const std::string& path, std::string_view name) {
    ++found_.unsupported;
    add(path, name, "only Koordinator's manager acts on it, ignored");
  }

  // Checks the fields of a NodeSLO. `others`: further names that the mapping may have.
  void check_fields(const std::string& path, const json::value& value, std::span<const SloField> fields,
                    const Names& others = {}) {
    const json::object* members = value.if_object();
    if (!members) return;
    for (const auto& member : *members) {
      if (contains(others, member.key())) continue;
      const SloField* field = find_field(fields, member.key());
      if (!field)
        unknown(path, member.key(), names_of(fields, others));
      else if (field->type == SloType::object)
        check_fields(path + std::string(field->name) + '.', member.value(), field->fields);
      else if (field->type == SloType::list)
        check_list(path + std::string(field->name), member.value(), field->fields);
    }
  }

  void check_list(const std::string& path, const json::value& value, std::span<const SloField> fields,
                  const Names& others = {}) {
    const json::array* list = value.if_array();
    for (std::size_t i = 0; list && i < list->size(); ++i)
      check_fields(path + '[' + std::to_string(i) + "].", (*list)[i], fields, others);
  }

  // Checks the names of the members, not their values.
  void check_names(const std::string& path, const json::value& value, const Names& known) {
    const json::object* members = value.if_object();
    if (!members) return;
    for (const auto& member : *members)
      if (!contains(known, member.key())) unknown(path, member.key(), known);
  }

  void check_selectors(const std::string& path, const json::value* entries) {
    const json::array* list = entries ? entries->if_array() : nullptr;
    for (std::size_t i = 0; list && i < list->size(); ++i)
      if (const json::object* entry = (*list)[i].if_object())
        for (const auto& member : *entry)
          if (equal_but_case(member.key(), "nodeSelector"))
            check_names(path + '[' + std::to_string(i) + "].nodeSelector.", member.value(),
                        {"matchLabels", "matchExpressions"});
  }

 private:
  void add(const std::string& path, std::string_view name, const std::string& why) {
    if (found_.lines.size() < IgnoredSettings::kMostNamed)
      found_.lines.push_back(path + printable(name, kMostName) + ": " + why);
  }

  IgnoredSettings& found_;
};

// Checks the document of a section of the NodeSLO. A list, hostApplications, is a member of the document and of its
// entries; the fields of another section are in clusterStrategy, and beside the name and the selector of an entry.
void check_section(const state::ClusterSection& settings, const SloField& section, Search& search) {
  const bool is_list = section.type == SloType::list;
  const std::array<SloField, 1> for_all{{{.name = is_list ? kApplications : settings.strategy_name,
                                          .type = is_list ? SloType::list : SloType::object,
                                          .fields = section.fields}}};
  const std::string at = settings.key + ": ";
  search.check_fields(at, *settings.document, for_all, {settings.list_name});
  if (!settings.list) return;
  search.check_list(at + settings.list_name, *settings.list,
                    is_list ? std::span<const SloField>(for_all) : section.fields, {"name", "nodeSelector"});
  search.check_selectors(at + settings.list_name, settings.list);
}

void check_strategy(const std::string& path, const json::value& strategy, const Names& others, Search& search) {
  Names known = colocation_fields();
  known.insert(known.end(), others.begin(), others.end());
  const json::object* members = strategy.if_object();
  if (!members) return;
  for (const auto& member : *members) {
    if (equal_but_case(member.key(), "metricAggregatePolicy"))
      search.check_names(path + "metricAggregatePolicy.", member.value(), {"durations"});
    else if (contains(kFieldsOfKoordinator, member.key()))
      search.unsupported(path, member.key());
    else if (!contains(known, member.key()))
      search.unknown(path, member.key(), known);
  }
}

void check_colocation(const json::value& document, Search& search) {
  const std::string at = std::string(kColocationKey) + ": ";
  check_strategy(at, document, {"nodeConfigs"}, search);
  const json::object* members = document.if_object();
  if (!members) return;
  for (const auto& member : *members) {
    const json::array* entries = equal_but_case(member.key(), "nodeConfigs") ? member.value().if_array() : nullptr;
    for (std::size_t i = 0; entries && i < entries->size(); ++i)
      check_strategy(at + "nodeConfigs[" + std::to_string(i) + "].", (*entries)[i], {"name", "nodeSelector"}, search);
    if (entries) search.check_selectors(at + "nodeConfigs", &member.value());
  }
}

}  // namespace

IgnoredSettings IgnoredSettings::of(const json::object& data) {
  IgnoredSettings found;
  Search search(found);
  const state::ClusterSlo cluster(json::serialize(data));
  Names keys{std::string(kColocationKey)};
  for (const SloField& section : state::slo_schema()) {
    const state::ClusterSection settings = cluster.section(section.name, {});
    if (settings.key.empty()) continue;
    keys.push_back(settings.key);
    if (settings.document) check_section(settings, section, search);
  }
  for (const auto& [key, value] : data) {
    if (key == kColocationKey) {
      const Result<json::value> document = value.is_string() ? read_json(text_view(value.get_string())) : json::value();
      if (document) check_colocation(*document, search);
    } else if (contains(kKeysOfKoordinator, key)) {
      search.unsupported("", key);
    } else if (!contains(keys, key)) {
      search.unknown("", key, keys);
    }
  }
  if (const std::size_t all = found.unknown + found.unsupported; all > found.lines.size())
    found.lines.push_back(std::to_string(all - found.lines.size()) + " more settings without effect");
  return found;
}

}  // namespace koord::manager
