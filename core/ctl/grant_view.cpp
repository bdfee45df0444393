// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/grant_view.hpp"

#include <algorithm>

#include "core/ctl/table.hpp"
#include "core/host/grants.hpp"

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
    {"koord.fs/1", "reads files of the node that any plugin may read, and those in plugins.settings.ID.files; never memory, environments or secrets of processes"},
    {"koord.knobs/1", "proposes values for the cgroups of pods, and those in plugins.settings.ID.cgroups; the host writes them where the mode is enforce"},
    {"koord.kv/1", "keeps small facts; reads those of all plugins"},
    {"koord.metrics/1", "defines metrics, appends samples; reads the history of all metrics"},
    {"koord.state/1", "reads the node, its pods with labels and annotations, and the ids of their processes"},
};

}  // namespace

std::string_view service_allows(std::string_view id) {
  const auto* found = std::find_if(std::begin(kServiceTexts), std::end(kServiceTexts), [&](const ServiceText& text) { return text.id == id; });
  return found == std::end(kServiceTexts) ? "unknown to this version" : found->allows;
}

std::vector<GrantedService> granted_services_of(const host::Manifest& manifest) {
  std::vector<GrantedService> services;
  const auto add = [&](const std::vector<std::string>& ids, std::string_view named_as) {
    for (const std::string& id : ids)
      if (std::none_of(services.begin(), services.end(), [&](const GrantedService& known) { return known.id == id; }))
        services.push_back({id, named_as, std::string(service_allows(id))});
  };
  add(manifest.required_services, "required");
  add(manifest.optional_services, "optional");
  for (const std::string& kind : manifest.kinds) add(host::granted_services(kind), "kind");
  return services;
}

std::string grants_table(const host::Manifest& manifest) {
  Table table({{"SERVICE"}, {"NAMED AS"}, {"ALLOWS"}});
  for (const GrantedService& service : granted_services_of(manifest)) table.add({service.id, std::string(service.named_as), service.allows});
  return table.render();
}

json::array grants_json(const host::Manifest& manifest) {
  json::array array;
  for (const GrantedService& service : granted_services_of(manifest))
    array.push_back({{"service", service.id}, {"namedAs", service.named_as}, {"allows", service.allows}});
  return array;
}

}  // namespace koord::ctl
