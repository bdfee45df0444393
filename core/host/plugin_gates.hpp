// SPDX-License-Identifier: Apache-2.0
// A plugin may have several feature gates: it runs while any of them is on, and its configuration contains the enabled
// ones. Pure. [any thread]
#pragma once

#include "core/config/config.hpp"
#include "core/config/feature_gates.hpp"
#include "core/load/manifest.hpp"

namespace koord::host {

bool any_gate_is_on(const load::Manifest& manifest, const config::FeatureGates& gates);

// "its feature gate A is off", or "none of its feature gates A, B is on".
std::string why_off(const load::Manifest& manifest);

// The effective settings of this plugin. The configuration of one with several gates has a member `gates`, the names of
// those that are on, which replaces any configured value.
config::PluginSettings settings_with_gates(const load::Manifest& manifest, const config::FeatureGates& gates,
                                           const config::PluginSettings& settings);
// The same from the settings of all plugins. One that the configuration does not name has its own defaults.
config::PluginSettings effective_settings(const load::Manifest& manifest, const config::FeatureGates& gates,
                                          const config::PluginsSettings& settings);

}  // namespace koord::host
