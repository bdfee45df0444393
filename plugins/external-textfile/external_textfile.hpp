// SPDX-License-Identifier: Apache-2.0
// Selects the files of a directory to read. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace koord::external_textfile {

// The host's limit of targets.
inline constexpr std::size_t kMaxFiles = 256;

struct File {
  std::string name;
  std::int64_t modified_ns = 0;  // Unix time
  bool is_regular = true;
};

// Returns whether the name is valid for the host's targets and ends with ".prom". Hidden files may be unfinished and
// are refused.
bool is_ours(std::string_view name);

struct Choice {
  std::vector<File> read;   // fresh files, by name
  std::vector<File> stale;  // files older than `max_age_ns`
  std::size_t too_many = 0;
  std::size_t not_regular = 0;  // directories, links and pipes with an accepted name
};

// `max_age_ns` 0: no file is too old.
Choice choose(const std::vector<File>& files, std::int64_t now_ns, std::int64_t max_age_ns);

}  // namespace koord::external_textfile
