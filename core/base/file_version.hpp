// SPDX-License-Identifier: Apache-2.0
// FileVersion: which file is at a path, to notice that it was replaced or changed. [any thread]
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace koord {

// All zero: no file.
struct FileVersion {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;

  bool operator==(const FileVersion&) const = default;
};

FileVersion version_from(const struct stat& about);
// Follows symbolic links. An empty path is no file.
FileVersion version_of(const std::string& path);

}  // namespace koord
