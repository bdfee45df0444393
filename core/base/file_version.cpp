// SPDX-License-Identifier: Apache-2.0
#include "core/base/file_version.hpp"

namespace koord {
namespace {

std::int64_t ns_of_stamp(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileVersion version_from(const struct stat& about) {
  return {.device = about.st_dev,
          .inode = about.st_ino,
          .size = static_cast<std::uint64_t>(about.st_size),
          .modified_ns = ns_of_stamp(about.st_mtim),
          .changed_ns = ns_of_stamp(about.st_ctim)};
}

FileVersion version_of(const std::string& path) {
  struct stat about;
  if (path.empty() || ::stat(path.c_str(), &about) != 0) return {};
  return version_from(about);
}

}  // namespace koord
