// SPDX-License-Identifier: Apache-2.0
// The agent's configuration for plugins of attacks, as YAML.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/hostile/attacks.hpp"

namespace koord::hostile {

// Keys and values of plugins.settings.ID.config: "socket", "store" and other paths of the node that attacks try.
using Words = std::vector<std::pair<std::string, std::string>>;

// Returns the settings of the bystander, of the neighbour if one is a hook, and of these attacks, below "settings:" of
// "plugins:". `deadline`: "3s".
std::string settings_of(std::span<const Attack* const> attacks, std::string_view deadline, const Words& words);

// Returns the gates of the same, below "featureGates:". Some attacks must stay off.
std::string gates_of(std::span<const Attack* const> attacks);

}  // namespace koord::hostile
