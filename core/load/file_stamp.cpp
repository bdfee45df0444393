// SPDX-License-Identifier: Apache-2.0
#include "core/load/file_stamp.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace koord::load {
namespace {

std::string describe(const FileVersion& stamp) {
  return "inode " + std::to_string(stamp.inode) + " of " + std::to_string(stamp.size) + " bytes changed at " +
         std::to_string(stamp.changed_ns) + " ns";
}

}  // namespace

Result<FileVersion> stamp_of(const std::string& path) {
  struct stat about;
  if (::stat(path.c_str(), &about) != 0) return system_error(errno, "cannot stat '" + path + "'");
  return version_from(about);
}

Result<void> check_unchanged(const std::string& path, const FileVersion& before) {
  const FileVersion now = TRY(stamp_of(path));
  if (now == before) return {};
  return invalid("'" + path + "': expected the file that was mapped, " + describe(before) + ", found " + describe(now) +
                 "; koordctl plugin reload takes what is there now");
}

}  // namespace koord::load
