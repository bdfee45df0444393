// SPDX-License-Identifier: Apache-2.0
// FileStamp: the identity of a file, and whether it was written since. [any thread]
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "core/base/result.hpp"

namespace koord::load {

struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_from(const struct stat& about);
Result<FileStamp> stamp_of(const std::string& path);

// To be called once the file is mapped.
Result<void> check_unchanged(const std::string& path, const FileStamp& before);

}  // namespace koord::load
