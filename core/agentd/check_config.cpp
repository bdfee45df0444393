// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/check_config.hpp"

#include "core/agentd/gates.hpp"
#include "core/base/file.hpp"
#include "core/config/load.hpp"
#include "core/host/file_content.hpp"
#include "core/host/manifest.hpp"

namespace koord::agentd {
namespace {

// The gates of the plugins in these directories. A directory that cannot be listed is a problem of the
// configuration; a file that is no plugin is that of the file, and the agent's status tells of it.
void collect_gates(std::string_view key, const std::vector<std::string>& directories, host::Origin origin,
                   config::FeatureGates& gates, std::vector<std::string>& problems) {
  for (const std::string& directory : directories) {
    Result<std::vector<std::string>> names = list_directory(directory);
    if (!names) {
      problems.push_back(std::string(key) + ": " + names.error().message());
      continue;
    }
    for (const std::string& name : *names) {
      if (!name.ends_with(".so")) continue;
      if (auto manifest = host::read_manifest(directory + "/" + name))
        for (config::GateSpec& gate : manifest->gate_specs(origin))
          if (auto added = gates.add(std::move(gate)); !added) problems.push_back(added.error().message());
    }
  }
}

}  // namespace

int check_config(const CommandLine& line, std::ostream& out) {
  Result<config::Config> config = config::load(line.config_path, line.overrides);
  if (!config) {
    out << config.error().message() << "\n";
    return 2;
  }
  config::FeatureGates gates;
  std::vector<std::string> problems;
  collect_gates("plugins.ownDirectories", config->plugins.own_directories, host::Origin::host, gates, problems);
  collect_gates("plugins.directories", config->plugins.directories, host::Origin::third_party, gates, problems);
  if (auto keys = host::read_trusted_keys(config->plugins.trusted_keys); !keys)
    problems.push_back(keys.error().message());
  for (std::string& problem : apply_gates(config->feature_gates, line.feature_gates, gates))
    problems.push_back(std::move(problem));
  for (const std::string& problem : problems) out << problem << "\n";
  if (!problems.empty()) return 2;
  out << line.config_path << ": ok\n";
  return 0;
}

}  // namespace koord::agentd
