// SPDX-License-Identifier: Apache-2.0
// /api/v1/plugins, /features and /capabilities: the plugins, the feature gates and the capabilities of the node.
#include "core/api/json_answer.hpp"
#include "core/api/verdict_judges.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/network_families.hpp"
#include "core/base/parse.hpp"
#include "core/host/inactive_plugins.hpp"
#include "core/host/isolation_level.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

json::object counts(const host::CallCounts& counts) {
  return {{"calls", counts.calls},
          {"errors", counts.errors},
          {"skippedTicks", counts.skipped_ticks},
          {"deadlineMisses", counts.deadline_misses},
          {"wallSeconds", to_seconds(counts.wall)},
          {"cpuSeconds", to_seconds(counts.cpu)}};
}

json::object scrape(const host::ScrapeStatus& scrape) {
  return {{"target", scrape.target},
          {"url", scrape.url},
          {"scrapes", scrape.scrapes},
          {"failures", scrape.failures},
          {"problem", scrape.problem},
          {"lastSeconds", to_seconds(scrape.duration)},
          {"bytes", scrape.bytes},
          {"taken", scrape.taken},
          {"dropped", scrape.dropped},
          {"leftOut", scrape.left_out},
          {"leftOutBecause", scrape.left_out_because}};
}

json::object instance(const host::InstanceStatus& instance) {
  json::array scrapes;
  for (const host::ScrapeStatus& one : instance.scrapes) scrapes.push_back(scrape(one));
  return {{"kind", instance.kind},
          {"name", instance.name},
          {"state", to_string(instance.state)},
          {"reason", instance.reason},
          {"call", instance.call},
          {"callSeconds", to_seconds(instance.call_time)},
          {"counts", counts(instance.counts)},
          {"serviceCpuSeconds", to_seconds(instance.service_cpu)},
          {"lastError", instance.last_error},
          {"lastSeconds", to_seconds(instance.last_duration)},
          {"scrapes", std::move(scrapes)},
          {"process", instance.process}};
}

// Returns the budget without unknown values and missing limits.
json::object budget(const host::PluginStatus& plugin) {
  const host::BudgetStatus& of = plugin.budget;
  json::object object{
      {"slowdown", of.slowdown}, {"softBreaches", of.soft_breaches}, {"hardBreaches", of.hard_breaches}};
  if (of.cpu_cores) object["cpuCores"] = *of.cpu_cores;
  if (of.service_cores) object["serviceCpuCores"] = *of.service_cores;
  if (of.cpu_millis > 0) object["cpuLimitCores"] = static_cast<double>(of.cpu_millis) / 1000;
  if (of.memory_bytes) object["memoryBytes"] = *of.memory_bytes;
  if (of.memory_limit_bytes > 0) object["memoryLimitBytes"] = of.memory_limit_bytes;
  if (of.series_limit > 0) object["seriesLimit"] = of.series_limit;
  return object;
}

json::array capability_names(CapabilityMask mask) { return json_strings(split(format_capabilities(mask), ',')); }

json::array network_names(NetworkMask mask) {
  json::array names;
  for (std::string_view name : network_family_names())
    if ((*network_family(name) & mask) != 0) names.push_back(json::string(name));
  return names;
}

// Returns null if the isolation is unknown, because the plugin has not been loaded yet.
json::value isolation(const host::PluginStatus& plugin) {
  if (!plugin.isolation) return nullptr;
  json::array layers;
  json::object missing;
  for (config::IsolationLayer layer : config::kIsolationLayers) {
    if (plugin.isolation->has(layer)) {
      layers.push_back(json::string(to_string(layer)));
    } else {
      missing[to_string(layer)] = plugin.isolation->missing.at(layer);
    }
  }
  return json::object{{"layers", std::move(layers)},
                      {"missing", std::move(missing)},
                      {"rootCapabilities", capability_names(host::root_capabilities(plugin.isolation->capabilities))}};
}

// Returns the grants without members that have no value.
json::object grants(const host::GrantStatus& of) {
  json::object object;
  if (of.capabilities != 0) object["capabilities"] = capability_names(of.capabilities);
  if (of.network != 0) object["network"] = network_names(of.network);
  if (!of.files.empty()) object["files"] = json_strings(of.files);
  if (!of.cgroups.empty()) object["cgroups"] = json_strings(of.cgroups);
  if (!of.read_paths.empty()) object["readPaths"] = json_strings(of.read_paths);
  if (!of.write_paths.empty()) object["writePaths"] = json_strings(of.write_paths);
  if (!of.hook_fields.empty()) object["hookFields"] = json_strings(of.hook_fields);
  return object;
}

json::object plugin(const host::PluginStatus& plugin) {
  json::array instances;
  for (const host::InstanceStatus& one : plugin.instances) instances.push_back(instance(one));
  return {{"id", plugin.id},
          {"version", plugin.version},
          {"path", plugin.path},
          {"description", plugin.description},
          {"kinds", json_strings(plugin.kinds)},
          {"gate", plugin.gate},
          {"stage", to_string(plugin.stage)},
          {"enabled", plugin.enabled},
          {"required", plugin.required},
          {"state", to_string(plugin.state)},
          {"reason", plugin.reason},
          {"counts", counts(plugin.counts)},
          {"lastError", plugin.last_error},
          {"lastSeconds", to_seconds(plugin.last_duration)},
          {"periodSeconds", to_seconds(plugin.period)},
          {"series", plugin.series},
          {"droppedSeries", plugin.dropped_series},
          {"budget", budget(plugin)},
          {"isolation", isolation(plugin)},
          {"grants", grants(plugin.grants)},
          {"restarts", plugin.restarts},
          {"reloads", plugin.reloads},
          {"refusedReloads", plugin.refused_reloads},
          {"refusedConfigs", plugin.refused_configs},
          {"instances", std::move(instances)}};
}

// Returns the state of a plugin as a capability state.
std::string_view capability_state(host::PluginState state) {
  using enum host::PluginState;
  switch (state) {
    case running:
      return "supported";
    case absent:
      return "absent";
    case disabled:
      return "off";
    case refused:
    case failed:
    case wedged:
    case parked:
      return "broken";
    default:
      return "starting";
  }
}

json::object plugin_capability(const host::PluginStatus& plugin, const std::string& node_slo) {
  std::string_view state = capability_state(plugin.state);
  std::string detail =
      plugin.state == host::PluginState::disabled ? "its gate " + plugin.gate + " is off" : plugin.reason;
  if (plugin.state == host::PluginState::running) {
    const host::InactivePlugins::Reason inactive = host::InactivePlugins::why_of(plugin.gate, node_slo);
    if (inactive.is_whole) state = "inactive";
    if (!inactive.text.empty()) detail = inactive.text;
  }
  if (detail.empty()) detail = plugin.description;
  return {{"name", plugin.id}, {"state", state}, {"detail", detail}, {"plugin", plugin.id}};
}

}  // namespace

http::Response get_plugins(const ApiSources& sources, const http::Request&) {
  json::array plugins;
  for (const host::PluginStatus& one : sources.plugins()) plugins.push_back(plugin(one));
  json::array minimum;
  if (sources.minimum_isolation)
    for (config::IsolationLayer layer : sources.minimum_isolation()) minimum.push_back(json::string(to_string(layer)));
  return json_answer({{"plugins", std::move(plugins)}, {"minimumIsolation", std::move(minimum)}});
}

void post_reload(const ApiSources& sources, const http::Request& request, const http::Reply& reply) {
  const std::string id(http::part_of_path(kReloadPath, request.path).value_or(""));
  sources.reload_plugin(id, [&sources, id, request, reply](const Result<void>& reloaded) {
    record_change(sources, request, "reload of plugin " + id, reloaded);
    if (!reloaded) return reply(json_error(409, "'" + id + "' was not reloaded: " + reloaded.error().message()));
    for (const host::PluginStatus& one : sources.plugins())
      if (one.id == id) return reply(json_answer(plugin(one)));
    reply(json_error(409, "'" + id + "' ended meanwhile"));
  });
}

http::Response get_features(const ApiSources& sources, const http::Request&) {
  json::array features;
  for (const config::GateState& gate : sources.features())
    features.push_back({{"name", gate.name},
                        {"stage", to_string(gate.stage)},
                        {"default", gate.default_on},
                        {"enabled", gate.enabled},
                        {"origin", gate.origin}});
  return json_answer({{"features", std::move(features)}});
}

http::Response get_capabilities(const ApiSources& sources, const http::Request&) {
  json::array capabilities;
  const auto add = [&](const service::Capability& capability) {
    capabilities.push_back({{"name", capability.name},
                            {"state", name_of(capability.state)},
                            {"detail", capability.detail},
                            {"plugin", capability.plugin}});
  };
  const std::vector<service::Capability> reported = sources.services.capabilities.list();
  const std::vector<host::PluginStatus> plugins = sources.plugins();
  for (const service::Capability& capability : reported)
    if (!is_verdict_capability(capability.name)) add(capability);
  for (const service::Capability& capability : verdict_capabilities(reported, plugins)) add(capability);
  const state::SnapshotPtr snapshot = sources.services.hub.current();
  for (const host::PluginStatus& one : plugins)
    if (!one.id.empty()) capabilities.push_back(plugin_capability(one, snapshot->node_slo));
  return json_answer({{"capabilities", std::move(capabilities)}});
}

}  // namespace koord::api
