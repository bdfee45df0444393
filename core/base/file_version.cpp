// SPDX-License-Identifier: Apache-2.0
#include "core/base/file_version.hpp"

#include <sys/stat.h>

namespace koord {
namespace {

std::int64_t ns_of_stamp(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileVersion version_of(const std::string& path) {
  struct stat info;
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size), ns_of_stamp(info.st_mtim),
          ns_of_stamp(info.st_ctim)};
}

}  // namespace koord
