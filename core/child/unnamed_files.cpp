// SPDX-License-Identifier: Apache-2.0
#include "core/child/unnamed_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::child {
namespace {

constexpr std::uint64_t kBlockOfStat = 512;  // unit of st_blocks, stat(2)

struct CloseListing {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

using Listing = std::unique_ptr<DIR, CloseListing>;

// Returns the real user id in the text of /proc/PID/status.
std::optional<std::uint64_t> user_in(std::string_view status) {
  constexpr std::string_view kStart = "\nUid:\t";
  const std::size_t at = status.find(kStart);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = status.substr(at + kStart.size());
  const Result<std::uint64_t> uid = parse_uint(rest.substr(0, rest.find('\t')));
  return uid ? std::optional(*uid) : std::nullopt;
}

}  // namespace

std::vector<std::int32_t> processes_of_user(std::uint32_t uid) {
  std::vector<std::int32_t> pids;
  const Listing proc(::opendir("/proc"));
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    const Result<std::uint64_t> pid = parse_uint(entry->d_name);
    if (!pid) continue;
    const Result<std::string> status = read_file("/proc/" + std::string(entry->d_name) + "/status");
    if (status && user_in(*status) == uid) pids.push_back(static_cast<std::int32_t>(*pid));
  }
  return pids;
}

std::uint64_t unnamed_size(const std::vector<std::int32_t>& pids, dev_t device, std::uint64_t enough) {
  std::set<ino_t> counted;
  std::uint64_t bytes = 0;
  for (const std::int32_t pid : pids) {
    const Listing fds(::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str()));
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
