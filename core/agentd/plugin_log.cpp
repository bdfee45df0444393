// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/plugin_log.hpp"

namespace koord::agentd {

log::Level level_of(host::PluginState state) {
  using enum host::PluginState;
  switch (state) {
    case refused:
    case failed:
    case wedged:
    case parked:
      return log::Level::warn;
    case running:
    case stopped:
    case disabled:
    case absent:
      return log::Level::info;
    default:
      return log::Level::debug;  // a transient state
  }
}

std::string plugin_name_of(const host::PluginStatus& plugin) {
  return plugin.id.empty() ? "'" + plugin.path + "'" : plugin.id;
}

void log_plugin(const host::PluginStatus& plugin) {
  const bool has_reason = plugin.state == host::PluginState::running && !plugin.reason.empty();
  log::write(plugin_log, has_reason ? log::Level::warn : level_of(plugin.state),
             plugin_name_of(plugin) + " is " + std::string(to_string(plugin.state)) +
                 (plugin.reason.empty() ? "" : ": " + plugin.reason));
}

}  // namespace koord::agentd
