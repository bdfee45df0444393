// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/grant_view.hpp"

#include <algorithm>

#include "core/base/parse.hpp"
#include "core/ctl/table.hpp"
#include "core/load/grants.hpp"

namespace koord::ctl {
namespace {

struct ServiceText {
  std::string_view id, allows;
};

constexpr ServiceText kServiceTexts[] = {
    {"koord.audit/1", "writes events that koordctl events shows under its name"},
    {"koord.capabilities/1", "reads what this node supports; reports how it works itself"},
    {"koord.cgroup/1", "reads usage, limits and pressure of every cgroup of the node"},
    {"koord.clock/1", "reads the time"},
    {"koord.config/1", "reads its own part of the configuration"},
    {"koord.evict/1", "asks for pods to be evicted; the host decides, by its budgets, modes and annotations of pods"},
    {"koord.fs/1",
     "reads public files of /proc and /sys, all cgroups and resctrl, command lines of all processes, and files in plugins.settings.ID.files; never memory or environments"},
    {"koord.knobs/1",
     "proposes values for the cgroups of pods, and those in plugins.settings.ID.cgroups; the host writes them where the mode is enforce"},
    {"koord.kv/1", "stores small values; reads those of all plugins"},
    {"koord.metrics/1", "defines metrics, appends samples; reads the history of all metrics"},
    {"koord.state/1", "reads the node, its pods with labels and annotations, and the ids of their processes"},
    {"koord.verdict/1", "posts verdicts about pods that are held up, shown under its name; reads those of all plugins"},
};

// Returns the word of a kind: "advisor" for "koord.advisor/1".
std::string word_of_kind(std::string_view kind) {
  kind = kind.substr(0, kind.find('/'));
  return std::string(kind.substr(kind.find('.') + 1));
}

std::string named_text(const GrantedService& service) {
  return service.kind.empty() ? std::string(service.named_as) : "not named; every " + service.kind + " gets it";
}

std::string words_of(const json::array& list) {
  std::vector<std::string> words;
  for (const json::value& word : list)
    if (word.is_string()) words.emplace_back(word.as_string());
  return join(words, ", ");
}

}  // namespace

std::string_view service_allows(std::string_view id) {
  const auto* found = std::find_if(std::begin(kServiceTexts), std::end(kServiceTexts),
                                   [&](const ServiceText& text) { return text.id == id; });
  return found == std::end(kServiceTexts) ? "unknown to this version" : found->allows;
}

std::vector<GrantedService> granted_services_of(const load::Manifest& manifest) {
  std::vector<GrantedService> services;
  const auto add = [&](const std::vector<std::string>& ids, std::string_view named_as, const std::string& kind = {}) {
    for (const std::string& id : ids)
      if (std::none_of(services.begin(), services.end(), [&](const GrantedService& known) { return known.id == id; }))
        services.push_back({id, named_as, kind, std::string(service_allows(id))});
  };
  add(manifest.required_services, "required");
  add(manifest.optional_services, "optional");
  for (const std::string& kind : manifest.kinds) add(load::granted_services(kind), "kind", word_of_kind(kind));
  return services;
}

std::string grants_table(const load::Manifest& manifest) {
  Table table({{"SERVICE"}, {"NAMED AS"}, {"ALLOWS"}});
  for (const GrantedService& service : granted_services_of(manifest))
    table.add({service.id, named_text(service), service.allows});
  return table.render();
}

json::array grants_json(const load::Manifest& manifest) {
  json::array array;
  for (const GrantedService& service : granted_services_of(manifest))
    array.push_back({{"service", service.id}, {"namedAs", service.named_as}, {"allows", service.allows}});
  return array;
}

std::vector<NeededSetting> needed_settings_of(const load::Manifest& manifest) {
  std::vector<NeededSetting> needed;
  for (const std::string& kind : manifest.kinds) {
    if (kind == "koord.external-advisor/1") {
      needed.push_back({"network: [tcp]", "the agent scrapes the plugin's http:// and https:// endpoints"});
      needed.push_back({"network: [unix]; writePaths: [/run/x.sock]",
                        "the agent scrapes the plugin's unix: endpoints at this path or below this directory"});
    }
    if (kind == "koord.runtime-hook/1") {
      needed.push_back(
          {"mode: enforce",
           "also by qos.mode: enforce: the hook sets environment, annotations and cgroup values of new containers, sets cgroup "
           "values of existing ones, and refuses pods and containers"});
      needed.push_back({"hookFields: [device]", "the hook gives containers devices of the node (device:/dev/NAME)"});
      needed.push_back({"hookFields: [mount]", "the hook mounts paths of the node into containers (mount:/PATH)"});
    }
  }
  return needed;
}

std::string needed_settings_table(const load::Manifest& manifest) {
  Table table({{"SETTING OF plugins.settings." + manifest.id}, {"ONLY WITH IT"}});
  for (const NeededSetting& needed : needed_settings_of(manifest)) table.add({needed.setting, needed.allows});
  return table.empty() ? "" : "\n" + table.render();
}

json::array needed_settings_json(const load::Manifest& manifest) {
  json::array array;
  for (const NeededSetting& needed : needed_settings_of(manifest))
    array.push_back({{"setting", needed.setting}, {"allows", needed.allows}});
  return array;
}

std::string granted_text(const json::value& grants) {
  std::string text;
  for (std::string_view key : {"capabilities", "network", "files", "cgroups", "readPaths", "writePaths", "hookFields"})
    if (const std::string words = words_of(json_list(grants, key)); !words.empty())
      text += (text.empty() ? "" : "; ") + std::string(key) + " " + words;
  return text;
}

GrantedHere granted_here(const Result<std::string>& answer, std::string_view id) {
  if (!answer) return {.text = "unknown: " + answer.error().message()};
  const Result<json::object> list = parse_object(*answer);
  if (!list) return {.text = "unknown: " + list.error().message()};
  const json::value root(*list);
  GrantedHere here{.text = "unknown: the agent has found no plugin '" + std::string(id) + "'"};
  here.minimum_isolation = json_list(root, "minimumIsolation");
  for (const json::value& plugin : json_list(root, "plugins")) {
    if (json_text(plugin, "id") != id) continue;
    here.grants = json_mapping(plugin, "grants");
    here.text = granted_text(here.grants);
    if (here.text.empty()) here.text = "nothing";
  }
  return here;
}

}  // namespace koord::ctl
