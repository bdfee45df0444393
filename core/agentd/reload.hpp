// SPDX-License-Identifier: Apache-2.0
// Changes of the configuration that a running agent can apply.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"

namespace koord::agentd {

// The keys that differ and only take effect after a restart. Log, feature gates and plugins are not among them.
std::vector<std::string> keys_needing_restart(const config::Config& running, const config::Config& fresh);

// Sets the keys of plugins that need a restart to their running values.
void keep_until_restart(const config::Config& running, config::Config& fresh);

}  // namespace koord::agentd
