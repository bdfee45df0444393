// SPDX-License-Identifier: Apache-2.0
#include "core/load/file_stamp.hpp"

#include <cerrno>

namespace koord::load {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::string describe(const FileVersion& stamp) {
  return "inode " + std::to_string(stamp.inode) + " of " + std::to_string(stamp.size) + " bytes changed at " +
         std::to_string(stamp.changed_ns) + " ns";
}

}  // namespace

FileVersion stamp_from(const struct stat& about) {
  return {.device = about.st_dev,
          .inode = about.st_ino,
          .size = static_cast<std::uint64_t>(about.st_size),
          .modified_ns = nanoseconds(about.st_mtim),
          .changed_ns = nanoseconds(about.st_ctim)};
}

Result<FileVersion> stamp_of(const std::string& path) {
  struct stat about;
  if (::stat(path.c_str(), &about) != 0) return system_error(errno, "cannot stat '" + path + "'");
  return stamp_from(about);
}

Result<void> check_unchanged(const std::string& path, const FileVersion& before) {
  const FileVersion now = TRY(stamp_of(path));
  if (now == before) return {};
  return invalid("'" + path + "': wanted the file that was mapped, " + describe(before) + ", found " + describe(now) +
                 "; koordctl plugin reload takes what is there now");
}

}  // namespace koord::load
