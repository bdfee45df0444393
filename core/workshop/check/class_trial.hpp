// SPDX-License-Identifier: Apache-2.0
// ClassTrial: one class of the plugin in a trial, in a process of its own. [any thread of a process that has one]
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/workshop/check/called_instance.hpp"
#include "core/workshop/check/plugin_trial.hpp"
#include "core/workshop/check/rule.hpp"
#include "core/workshop/check/trial.hpp"

namespace koord::check {

// The argument of `body`, in the child.
struct ClassTrial {
  const Suspect& suspect;
  PluginTrial& trial;
  const load::Module& module;
  std::size_t class_index;

  const load::ClassInfo& info() const { return module.classes()[class_index]; }
  WatchedHost& add_host() const { return trial.add_host(suspect.manifest->id, info().kind, suspect.config_json); }
  CalledInstance instance() const { return instance_on(add_host()); }
  CalledInstance instance_on(WatchedHost& host) const { return {trial, module, class_index, host}; }
};

// Runs `body` for each class, each in its own process, until one fails.
Outcome run_in_trial(const Suspect& suspect, const std::function<Outcome(ClassTrial&)>& body);

// "Not known yet" and "gone" are no errors: the pods of the trial have no cgroups.
inline bool is_fine(koord_status tick) { return tick == KOORD_OK || tick == KOORD_E_AGAIN || tick == KOORD_E_GONE; }

// Result of a whole session.
struct SessionRecord {
  bool began = false;   // init() returned KOORD_OK
  bool ticked = false;  // a tick was fine
  koord_status init = KOORD_OK;
  std::string failure;   // the last, in words
  std::size_t held = 0;  // snapshots, when it was over

  bool went_well() const { return began && ticked; }
};
SessionRecord run_session(ClassTrial& class_trial);

}  // namespace koord::check
