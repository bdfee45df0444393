// SPDX-License-Identifier: Apache-2.0
// A performance: the plugin in one trial, in a process of its own. [any thread of a process that has one]
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/workshop/check/player.hpp"
#include "core/workshop/check/plugin_trial.hpp"
#include "core/workshop/check/rule.hpp"
#include "core/workshop/check/trial.hpp"

namespace koord::check {

// One class of the plugin in its trial, in the child.
struct Part {
  const Suspect& suspect;
  PluginTrial& trial;
  const load::Module& module;
  std::size_t class_index;

  const load::ClassInfo& info() const { return module.classes()[class_index]; }
  WatchedHost& add_host() const { return trial.add_host(suspect.manifest->id, info().kind, suspect.config_json); }
  Player player() const { return player_on(add_host()); }
  Player player_on(WatchedHost& host) const { return {trial, module, class_index, host}; }
};

// Plays every class, each in a process of its own, until one is no success.
Outcome perform(const Suspect& suspect, const std::function<Outcome(Part&)>& play);

// "Not known yet" and "gone" are no errors: the pods of the trial have no cgroups.
inline bool is_fine(koord_status tick) { return tick == KOORD_OK || tick == KOORD_E_AGAIN || tick == KOORD_E_GONE; }

// A whole session.
struct SessionRecord {
  bool began = false;   // init() returned KOORD_OK
  bool ticked = false;  // a tick was fine
  koord_status init = KOORD_OK;
  std::string failure;   // the last, in words
  std::size_t held = 0;  // snapshots, when it was over

  bool went_well() const { return began && ticked; }
};
SessionRecord live(Part& part);

}  // namespace koord::check
