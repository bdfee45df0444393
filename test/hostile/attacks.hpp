// SPDX-License-Identifier: Apache-2.0
// The table of attacks.inc, and the plugin files that make the attacks.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace koord::hostile {

enum class Batch { quiet, alone, flood, lie, end };

struct Attack {
  std::string_view name, kind, defect;
  Batch batch;
  std::string_view expectation;
  bool open;  // no defence yet, so it runs only if it is named

  std::string id() const;    // id of the attack's plugin: "com.hostile.own-directory"
  std::string gate() const;  // "HostileOwnDirectory"
  bool is_strategy() const;
  bool is_external() const;        // an external advisor
  bool is_scraped() const;         // its endpoint is a BigAnswer
  bool is_about_verdicts() const;  // if true, the agent needs a container
  bool is_hook() const;            // asked about pods, so the agent needs pods
  std::string_view plugin_kind() const;
};

std::span<const Attack> attacks();
// Returns the table as README.md shows it, one line per attack.
std::string table();

// Writes the attack's plugin into the folder: a copy of the template (the built hostile.so) with a different manifest.
// For attacks that lie about files it may be any other file.
void write_plugin(const Attack& attack, const std::string& plugin_template, const std::string& folder);

// Writes the plugin "com.hostile.crowd-N" with the gate "HostileCrowdN". It starts processes that should outlive it,
// and continues to tick.
void write_crowd(int n, const std::string& plugin_template, const std::string& folder);

}  // namespace koord::hostile
