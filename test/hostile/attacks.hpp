// SPDX-License-Identifier: Apache-2.0
// The table of attacks.inc, and the files that carry them out.
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
  bool open;  // no defence yet: not run unless it is asked for by name

  std::string id() const;    // of its plugin: "com.hostile.own-directory"
  std::string gate() const;  // "HostileOwnDirectory"
  bool is_strategy() const;
  bool is_external() const;        // an external advisor
  bool is_scraped() const;         // its endpoint is a BigAnswer
  bool is_about_verdicts() const;  // for which its agent needs a container
  bool is_hook() const;            // asked about pods, which its agent needs
  std::string_view plugin_kind() const;
};

std::span<const Attack> attacks();
// As README.md shows them, a line each.
std::string table();

// Writes the attack's plugin into the folder: the template, a built hostile.so, with another manifest; for lies about
// files, whatever that is.
void write_plugin(const Attack& attack, const std::string& plugin_template, const std::string& folder);

// The plugin "com.hostile.crowd-N", gate "HostileCrowdN": it starts processes that mean to stay, and goes on ticking.
void write_crowd(int n, const std::string& plugin_template, const std::string& folder);

}  // namespace koord::hostile
