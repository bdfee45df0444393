// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_status.hpp"

namespace koord::host {

std::string_view to_string(PluginState state) {
  switch (state) {
    case PluginState::refused:
      return "refused";
    case PluginState::disabled:
      return "disabled";
    case PluginState::loading:
      return "loading";
    case PluginState::loaded:
      return "loaded";
    case PluginState::created:
      return "created";
    case PluginState::initialised:
      return "initialised";
    case PluginState::running:
      return "running";
    case PluginState::stopping:
      return "stopping";
    case PluginState::stopped:
      return "stopped";
    case PluginState::failed:
      return "failed";
    case PluginState::absent:
      return "absent";
    case PluginState::wedged:
      return "wedged";
    case PluginState::parked:
      return "parked";
  }
  return "?";
}

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  calls += other.calls;
  errors += other.errors;
  skipped_ticks += other.skipped_ticks;
  deadline_misses += other.deadline_misses;
  wall += other.wall;
  cpu += other.cpu;
  return *this;
}

}  // namespace koord::host
