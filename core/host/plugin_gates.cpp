// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_gates.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/config/on_timeout.hpp"
#include "core/json/reader.hpp"

namespace koord::host {

namespace json = boost::json;

bool any_gate_is_on(const load::Manifest& manifest, const config::FeatureGates& gates) {
  return std::any_of(manifest.gates.begin(), manifest.gates.end(),
                     [&](const std::string& gate) { return gates.enabled(gate); });
}

std::string why_off(const load::Manifest& manifest) {
  if (manifest.gates.size() == 1) return "its feature gate " + manifest.gates.front() + " is off";
  return "none of its feature gates " + join(manifest.gates, ", ") + " is on";
}

config::PluginSettings settings_with_gates(const load::Manifest& manifest, const config::FeatureGates& gates,
                                           const config::PluginSettings& settings) {
  config::PluginSettings extended = settings;
  if (manifest.gates.size() < 2) return extended;
  Result<json::object> config = read_json_object(settings.config_json.empty() ? "{}" : settings.config_json);
  if (!config) return extended;  // the schema refuses it
  json::array on;
  for (const std::string& gate : manifest.gates)
    if (gates.enabled(gate)) on.emplace_back(gate);
  (*config)["gates"] = std::move(on);
  extended.config_json = json::serialize(*config);
  return extended;
}

config::PluginSettings effective_settings(const load::Manifest& manifest, const config::FeatureGates& gates,
                                          const config::PluginsSettings& settings) {
  config::PluginSettings effective = settings_with_gates(manifest, gates, settings.of(manifest.id));
  if (!settings.settings.contains(manifest.id)) effective.on_timeout = config::default_on_timeout(manifest.id);
  return effective;
}

}  // namespace koord::host
