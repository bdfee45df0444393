// SPDX-License-Identifier: Apache-2.0
// Distinguishes changes of the configuration that a running agent can apply from changes that need a restart.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"

namespace koord::agentd {

// Returns the changed keys that only take effect after a restart. Keys of log, feature gates and plugins are not
// included.
std::vector<std::string> keys_needing_restart(const config::Config& running, const config::Config& fresh);

// Sets the keys of plugins that need a restart to their running values.
void keep_until_restart(const config::Config& running, config::Config& fresh);

}  // namespace koord::agentd
