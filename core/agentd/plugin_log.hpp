// SPDX-License-Identifier: Apache-2.0
// Log lines about plugins, and the plugins' names in the log and in /readyz.
#pragma once

#include <string>

#include "core/host/plugin_status.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {

inline constexpr log::Category plugin_log{"plugin"};

log::Level level_of(host::PluginState state);
// Returns the id, or the quoted path of a file without an id.
std::string plugin_name_of(const host::PluginStatus& plugin);
void log_plugin(const host::PluginStatus& plugin);

}  // namespace koord::agentd
