// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/confined_run.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace koord::ctl {
namespace {

constexpr mode_t kPassable = 0711;  // the plugin's user must reach its own directory below

child::Layers::Options options_of(const std::string& directory, const config::Config& config, const NodeRoots& roots) {
  return {.state_directory = directory + "/state",
          .first_uid = static_cast<std::uint32_t>(config.plugins.first_uid),
          .uids = static_cast<std::uint32_t>(config.plugins.uids),
          .readable = {roots.proc, roots.sys, roots.cgroup, roots.resctrl}};
}

host::RunnerLimits limits_of(const config::PluginSettings& settings) {
  return {.memory_bytes = settings.max_memory,
          .state_bytes = settings.max_state,
          .capabilities = settings.capabilities,
          .network = settings.network,
          .readable = settings.read_paths,
          .writable = settings.write_paths,
          .hook_fields = settings.hook_fields,
          .third_party = true};
}

service::Rights rights_of(const config::PluginSettings& settings) {
  return {.host_plugin = false,
          .files = settings.files,
          .cgroups = settings.cgroups,
          .network = settings.network,
          .sockets = settings.write_paths};
}

}  // namespace

Result<std::unique_ptr<ConfinedRun>> ConfinedRun::make(const config::Config& config, const std::string& plugin_id,
                                                       const NodeRoots& roots) {
  if (::geteuid() != 0) return invalid("--confined needs root: only root can start a process of another user");
  std::error_code failed;
  std::string directory = (std::filesystem::temp_directory_path(failed) / "koordctl-run-XXXXXX").string();
  if (failed) return system_error(failed.value(), "directory for temporary files");
  if (::mkdtemp(directory.data()) == nullptr || ::chmod(directory.c_str(), kPassable) != 0)
    return system_error(errno, "'" + directory + "'");
  return std::unique_ptr<ConfinedRun>(new ConfinedRun(std::move(directory), config, plugin_id, roots));
}

ConfinedRun::ConfinedRun(std::string directory, const config::Config& config, const std::string& plugin_id,
                         const NodeRoots& roots)
    : directory_(std::move(directory)),
      layers_(options_of(directory_, config, roots)),
      limits_(limits_of(config.plugins.of(plugin_id))),
      rights_(rights_of(config.plugins.of(plugin_id))) {}

ConfinedRun::~ConfinedRun() {
  std::error_code failed;
  std::filesystem::remove_all(directory_, failed);
}

std::string unconfined_line(bool in_process) {
  if (in_process) return "not confined: the plugin runs in this process, with all rights of your user";
  return "not confined as in an agent: the plugin's process has your user, without capabilities, and the filter of system calls; the host "
         "reads files and scrapes endpoints for it with all rights of your user; --confined tries it with those of a third party's plugin";
}

std::string confinement_line(const host::IsolationLevel& level) {
  std::string line = "confined by " + level.text();
  for (const auto& [layer, why] : level.missing) line += "; not by " + std::string(to_string(layer)) + ": " + why;
  return line;
}

}  // namespace koord::ctl
