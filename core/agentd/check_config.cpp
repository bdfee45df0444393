// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/check_config.hpp"

#include <algorithm>

#include "core/agentd/gates.hpp"
#include "core/base/file.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/config/load.hpp"
#include "core/host/isolation.hpp"
#include "core/host/plugin_gates.hpp"
#include "core/load/config_schema.hpp"
#include "core/load/file_content.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/file_trust.hpp"
#include "core/load/grants.hpp"
#include "core/load/manifest.hpp"
#include "core/load/module_check.hpp"
#include "core/load/plugin_catalogue.hpp"

namespace koord::agentd {
namespace {

struct CheckedPlugin {
  std::string path;
  load::Manifest manifest;
  load::Origin origin;
};

// Returns the gates of the plugins in these directories, and the plugins. A directory that cannot be listed is a
// problem of the configuration, one of the agent's own without plugins a warning; a file that is not a plugin is
// reported in the agent's status.
void collect_gates(std::string_view key, const std::vector<std::string>& directories, load::Origin origin,
                   config::FeatureGates& gates, std::vector<CheckedPlugin>& plugins, std::vector<std::string>& problems,
                   std::vector<std::string>& warnings) {
  for (const std::string& directory : directories) {
    Result<std::vector<std::string>> names = list_directory(directory);
    if (!names) {
      problems.push_back(std::string(key) + ": " + names.error().message());
      continue;
    }
    const auto is_plugin = [](const std::string& name) { return name.ends_with(".so"); };
    if (origin == load::Origin::host && std::none_of(names->begin(), names->end(), is_plugin))
      warnings.push_back(load::no_own_plugins_in(directory));
    for (const std::string& name : *names) {
      if (!is_plugin(name)) continue;
      Result<load::Manifest> manifest = load::read_manifest(directory + "/" + name);
      if (!manifest) continue;
      for (config::GateSpec& gate : manifest->gate_specs(origin))
        if (auto added = gates.add(std::move(gate)); !added) problems.push_back(added.error().message());
      plugins.push_back({directory + "/" + name, *std::move(manifest), origin});
    }
  }
}

// Checks the plugin's part of the configuration against the schema of each of its classes. Only the mapped file has the
// schemas, so a separate process maps it as the agent would. That process calls only the plugin's entry function.
Result<void> check_plugin_config(const CheckedPlugin& plugin, const config::Config& config,
                                 const config::FeatureGates& gates, const child::Children& children) {
  const config::PluginSettings settings =
      host::settings_with_gates(plugin.manifest, gates, config.plugins.of(plugin.manifest.id));
  TRY(load::check_compatible(plugin.manifest));
  TRY(load::check_required_services(plugin.manifest));
  const std::string path = TRY(load::check_trusted_file(plugin.path));
  const FileVersion stamp = TRY(load::stamp_of(path));
  const host::RunnerLimits limits{
      .memory_bytes = settings.max_memory, .cpu_millis = settings.max_cpu_millis, .processes = settings.max_processes};
  const auto loaded = TRY(child::load_in_child(children, path, plugin.manifest, stamp, limits));
  for (const load::ClassInfo& info : loaded->classes())
    TRY(load::check_config_in_child(info.config_schema, settings.config_json));
  return {};
}

// Checks the plugins for which the configuration has settings.
void check_plugin_configs(const std::vector<CheckedPlugin>& plugins, const config::Config& config,
                          const config::FeatureGates& gates, std::vector<std::string>& problems) {
  child::SnapshotImages images;
  const child::Children children{child::plugin_host_program(config.plugins.child_program), images};
  for (const CheckedPlugin& plugin : plugins) {
    const auto settings = config.plugins.settings.find(plugin.manifest.id);
    if (settings == config.plugins.settings.end() || settings->second.config_json.empty() ||
        settings->second.config_json == "{}")
      continue;
    if (Result<void> fine = check_plugin_config(plugin, config, gates, children); !fine)
      problems.push_back("plugins.settings.\"" + plugin.manifest.id + "\".config: " + fine.error().message());
  }
}

// Makes the same checks as the agent at the start of the plugin.
Result<void> check_isolation(const CheckedPlugin& plugin, const config::PluginsSettings& settings) {
  const config::Isolation wanted = settings.of(plugin.manifest.id).isolation;
  const bool is_in_child = TRY(host::runs_in_child(plugin.manifest, plugin.origin, wanted));
  return is_in_child ? Result<void>() : host::check_in_agent(plugin.origin, wanted, settings.minimum_isolation);
}

}  // namespace

int check_config(const CommandLine& line, std::ostream& out) {
  Result<config::Config> config = config::load(line.config_path, line.overrides);
  if (!config) {
    out << config.error().message() << "\n";
    return 2;
  }
  config::FeatureGates gates;
  std::vector<std::string> problems, warnings;
  std::vector<CheckedPlugin> plugins;
  collect_gates("plugins.ownDirectories", config->plugins.own_directories, load::Origin::host, gates, plugins, problems,
                warnings);
  collect_gates("plugins.directories", config->plugins.directories, load::Origin::third_party, gates, plugins, problems,
                warnings);
  if (auto keys = load::read_trusted_keys(config->plugins.trusted_keys); !keys)
    problems.push_back(keys.error().message());
  for (std::string& problem : apply_gates(config->feature_gates, line.feature_gates, gates))
    problems.push_back(std::move(problem));
  for (const CheckedPlugin& plugin : plugins)
    if (Result<void> fine = check_isolation(plugin, config->plugins); !fine)
      problems.push_back("plugins.settings.\"" + plugin.manifest.id + "\"." + fine.error().message());
  check_plugin_configs(plugins, *config, gates, problems);
  // Unknown plugins are only a warning, because a configuration may serve nodes with different plugins, and the
  // package's configuration names plugins that a build may lack.
  std::vector<std::string> ids;
  for (const CheckedPlugin& plugin : plugins) ids.push_back(plugin.manifest.id);
  for (std::string& unknown : load::find_unknown_settings(config->plugins, ids)) warnings.push_back(std::move(unknown));
  for (const std::string& warning : warnings) out << "warning: " << warning << "\n";
  for (const std::string& problem : problems) out << problem << "\n";
  if (!problems.empty()) return 2;
  out << line.config_path << ": ok\n";
  return 0;
}

}  // namespace koord::agentd
