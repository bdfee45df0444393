// SPDX-License-Identifier: Apache-2.0
// Saved records that cannot be read: which ones are left out, and where their lines stay. Header-only. Used on the
// plugin's strand.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"

namespace koord::interference {

inline std::string left_out_key(std::string_view key) { return std::string(key) + ".left-out"; }

// Returns the problems with the records of a key as texts for the log.
inline std::vector<std::string> as_left_out(std::string_view key, std::vector<std::string> problems) {
  for (std::string& problem : problems) problem = std::string(key) + ", " + problem + "; it is left out";
  return problems;
}

// The same for records that this plugin has saved. The next save overwrites the lines with problems (`unread`), so they
// stay in the store for a week, as left_out_key().
inline std::vector<std::string> left_out(const plugin::Kv& kv, std::string_view key, std::vector<std::string> problems,
                                         const std::string& unread) {
  if (problems.empty()) return problems;
  const std::string name(key), kept = left_out_key(key);
  problems = as_left_out(key, std::move(problems));
  try {
    kv.set(kept, unread, std::chrono::hours(7 * 24));
    problems.push_back(name + ": lines that are left out stay for a week as " + kept);
  } catch (const plugin::Failure& failure) {
    problems.push_back(name + ": lines that are left out are lost: " + failure.what());
  }
  return problems;
}

}  // namespace koord::interference
