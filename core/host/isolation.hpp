// SPDX-License-Identifier: Apache-2.0
// The isolation of a plugin: this process or a child. The host's own plugins run here unless the configuration says
// otherwise, those of others in a child. A plugin with a runtime of its own always runs in a child, since a runtime
// takes over signals and threads of the process. Pure. [any thread]
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/load/manifest.hpp"

namespace koord::host {

// An error: the configuration wants what the plugin's runtime cannot have.
Result<bool> runs_in_child(const load::Manifest& manifest, load::Origin origin, config::Isolation wanted);

// Fails for a third party's plugin in the agent's process, which has no layer, if plugins.minimumIsolation names one.
// `wanted` is the isolation that the configuration has now; the file may have been mapped under another one.
Result<void> check_in_agent(load::Origin origin, config::Isolation wanted,
                            const std::vector<config::IsolationLayer>& minimum);

}  // namespace koord::host
