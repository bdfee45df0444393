// SPDX-License-Identifier: Apache-2.0
// OpenFile: one logical file of one cgroup with the keys its caller wants; the reader's table holds them.
// Usually a single kept descriptor. Used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/extraction.hpp"
#include "core/cgroup/files.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

class OpenFile {
 public:
  // `keep`: hold the descriptors; else, and when the process has none left, every read opens the file anew.
  static Result<OpenFile> open(const Layout& layout, std::string_view cgroup, const LogicalFile& file,
                               std::span<const std::string_view> keys, bool keep);

  // As Reader::read.
  Result<void> read(std::span<std::int64_t> values);

  std::size_t kept_descriptors() const;

 private:
  struct Source {
    std::string path;
    UniqueFd fd;      // empty when not kept
    ino_t inode = 0;  // to know the same file again where the descriptor is not kept
    Extraction extraction;
  };

  static Result<OpenFile> open_version(const Layout& layout, std::string_view cgroup, const LogicalFile& file,
                                       Version version, std::span<const std::string_view> keys, bool keep);
  static Result<void> open_source(Source& source, bool keep);
  static Result<void> read_source(Source& source, std::span<std::int64_t> values);

  std::vector<Source> sources_;
  std::size_t values_ = 0;
  std::vector<std::size_t> absent_slots_;  // of keys that only the other version of cgroups has
};

}  // namespace koord::cgroup
