// SPDX-License-Identifier: Apache-2.0
#include "core/manager/cluster_settings.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {

namespace json = boost::json;

void ClusterSettings::take(const kube::KeptObject* config_map) {
  is_known_ = true;
  uid_ = config_map ? config_map->uid : "";
  std::string data;
  if (config_map) {
    const Result<json::value> object = read_json(config_map->text);
    const json::value* found = object ? json_member(*object, "data") : nullptr;
    data = found && !found->is_null() ? json::serialize(*found) : "{}";
  }
  const std::vector<std::string> lines_before = problems(), rejected_before = rejected();
  problems_ = slo_.take(data);
  const Result<json::object> map = data.empty() ? json::object() : read_json_object(data);
  if (map) take_colocation(*map);  // else slo_ has reported it
  ignored_ = map ? IgnoredSettings::of(*map) : IgnoredSettings();
  note_changes(lines_before, rejected_before, map ? &*map : nullptr);
}

void ClusterSettings::note_changes(const std::vector<std::string>& lines_before,
                                   const std::vector<std::string>& rejected_before, const json::object* map) {
  changes_.clear();
  const auto has = [](const std::vector<std::string>& list, const std::string& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  for (std::string& line : problems())
    if (!has(lines_before, line)) changes_.push_back({true, std::move(line)});
  const std::vector<std::string> still = rejected();
  for (const std::string& key : rejected_before) {
    if (has(still, key) || !map) continue;
    const json::value* document = map->if_contains(key);
    const bool is_there = key.empty() || (document && !document->is_null());
    changes_.push_back({false, "ConfigMap " + config_map_ + ": " + (key.empty() ? "the data" : key) +
                                   (is_there ? " is valid again" : " is removed, using the defaults")});
  }
}

void ClusterSettings::take_colocation(const json::object& map) {
  const json::value* document = map.if_contains(kColocationKey);
  const bool is_missing = !document || document->is_null();
  const std::string text = is_missing              ? ""
                           : document->is_string() ? std::string(document->get_string())
                                                   : json::serialize(*document);
  if (std::string problem = colocation_.take(text); !problem.empty())
    problems_.push_back({std::string(kColocationKey), std::move(problem), has_colocation_});
  else
    has_colocation_ = !text.empty();
}

std::vector<std::string> ClusterSettings::problems() const {
  std::vector<std::string> lines;
  for (const state::SettingsProblem& problem : problems_)
    lines.push_back("ConfigMap " + config_map_ + ": " + text_of(problem));
  for (const std::string& line : ignored_.lines) lines.push_back("ConfigMap " + config_map_ + ": " + line);
  return lines;
}

std::vector<std::string> ClusterSettings::rejected() const {
  std::vector<std::string> keys;
  for (const state::SettingsProblem& problem : problems_) keys.push_back(problem.key);
  return keys;
}

kube::EventInput ClusterSettings::event(std::string reason, std::string message) const {
  const std::size_t slash = config_map_.find('/');
  kube::ObjectReference about{"v1", "ConfigMap", config_map_.substr(0, slash), config_map_.substr(slash + 1), uid_};
  return {std::move(about), true, std::move(reason), std::move(message)};
}

// The event reasons are the same as in Koordinator's manager.
std::vector<kube::EventInput> ClusterSettings::events() const {
  std::vector<kube::EventInput> events;
  for (const state::SettingsProblem& problem : problems_)
    events.push_back(event(problem.key == kColocationKey ? "ColocationCfgUnmarshalFailed" : "SLOCfgUnmarshalFailed",
                           text_of(problem)));
  return events;
}

}  // namespace koord::manager
