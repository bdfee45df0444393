// SPDX-License-Identifier: Apache-2.0
#include "core/child/unnamed_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <memory>
#include <set>
#include <string>

namespace koord::child {
namespace {

constexpr std::uint64_t kBlockOfStat = 512;  // of st_blocks, stat(2)

struct CloseListing {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

std::uint64_t unnamed_size(const std::vector<std::int32_t>& pids, dev_t device, std::uint64_t enough) {
  std::set<ino_t> counted;
  std::uint64_t bytes = 0;
  for (const std::int32_t pid : pids) {
    const std::unique_ptr<DIR, CloseListing> fds(::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str()));
    if (!fds) continue;
    while (const dirent* entry = ::readdir(fds.get())) {
      struct stat about;
      if (::fstatat(::dirfd(fds.get()), entry->d_name, &about, 0) != 0) continue;
      if (!S_ISREG(about.st_mode) || about.st_nlink != 0 || about.st_dev != device) continue;
      if (!counted.insert(about.st_ino).second) continue;
      bytes += static_cast<std::uint64_t>(about.st_blocks) * kBlockOfStat;
      if (bytes > enough) return bytes;
    }
  }
  return bytes;
}

}  // namespace koord::child
