// SPDX-License-Identifier: Apache-2.0
// The agent's configuration for the plugins of attacks, as YAML.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/hostile/attacks.hpp"

namespace koord::hostile {

// Keys and values of plugins.settings.ID.config: "socket", "store", and other paths of the node that the attacks use.
using Words = std::vector<std::pair<std::string, std::string>>;

// Returns the settings below "settings:" of "plugins:": for the bystander, for the neighbour if an attack is a hook,
// and for these attacks. `deadline`: "3s".
std::string settings_of(std::span<const Attack* const> attacks, std::string_view deadline, const Words& words);

// Returns the gates of these plugins, below "featureGates:". Some attacks must stay off.
std::string gates_of(std::span<const Attack* const> attacks);

}  // namespace koord::hostile
