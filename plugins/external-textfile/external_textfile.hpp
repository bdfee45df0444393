// SPDX-License-Identifier: Apache-2.0
// Chooses the files of a directory that are read. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace koord::external_textfile {

// As many as the host takes targets.
inline constexpr std::size_t kMaxFiles = 256;

struct File {
  std::string name;
  std::int64_t modified_ns = 0;  // Unix time
  bool is_regular = true;
};

// The host's limit for the name of a target, and ".prom" at the end; hidden files may be unfinished.
bool is_ours(std::string_view name);

struct Choice {
  std::vector<File> read;   // fresh ones, by name
  std::vector<File> stale;  // older than `max_age_ns`
  std::size_t too_many = 0;
  std::size_t not_regular = 0;  // directories, links and pipes with a name that is_ours() accepts
};

// `max_age_ns` 0: no file is too old.
Choice choose(const std::vector<File>& files, std::int64_t now_ns, std::int64_t max_age_ns);

}  // namespace koord::external_textfile
