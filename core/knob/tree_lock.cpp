// SPDX-License-Identifier: Apache-2.0
#include "core/knob/tree_lock.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/journal_file.hpp"

namespace koord::knob {
namespace {

// Returns the PID in a line of /proc/locks such as "1: FLOCK  ADVISORY  WRITE 719 00:1a:1 0 EOF"; empty: the line is
// about a different file. A line with "->" is about a waiting process.
std::string holder_in(std::string_view line, std::string_view file) {
  std::vector<std::string_view> words;
  while (auto word = next_word(line)) words.push_back(*word);
  const bool is_holder = words.size() > 5 && words[1] == "FLOCK" && words[5] == file;
  return is_holder ? std::string(words[4]) : std::string();
}

// Returns the folder with the journal that the process has locked; empty: unknown.
std::string journal_directory_of(const std::string& process) {
  const std::string end = journal_lock_path("");
  const Result<std::vector<std::string>> descriptors = list_directory(process + "/fd");
  if (!descriptors) return {};
  for (const std::string& descriptor : *descriptors) {
    std::error_code failed;
    const std::string target = std::filesystem::read_symlink(process + "/fd/" + descriptor, failed).string();
    if (target.ends_with(end)) return target.substr(0, target.size() - end.size());
  }
  return {};
}

}  // namespace

TreeLock::TreeLock(std::vector<std::string> directories, std::string proc)
    : directories_(std::move(directories)), proc_(std::move(proc)) {}

Result<void> TreeLock::lock() {
  if (is_held_) return {};
  std::vector<UniqueFd> locked;
  std::set<std::pair<dev_t, ino_t>> seen;  // a hierarchy with two controllers has two paths
  for (const std::string& path : directories_) {
    UniqueFd directory = TRY(open_directory(path));
    struct stat about;
    if (::fstat(directory.get(), &about) != 0) return system_error(errno, "cannot read '" + path + "'");
    if (!seen.emplace(about.st_dev, about.st_ino).second) continue;
    if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_error(errno, "cannot lock '" + path + "'");
      return invalid("another agent writes to the cgroup tree '" + path + "': " + holder_of(about) +
                     "; stop it, or set its qos.mode to shadow");
    }
    locked.push_back(std::move(directory));
  }
  held_ = std::move(locked);
  is_held_ = true;
  return {};
}

void TreeLock::unlock() {
  held_.clear();
  is_held_ = false;
}

// Returns a text such as "process 719 (koordetector) with qos.directory '/var/lib/koordetector/qos'".
std::string TreeLock::holder_of(const struct stat& about) const {
  char file[64];
  std::snprintf(file, sizeof file, "%02x:%02x:%ju", major(about.st_dev), minor(about.st_dev),
                static_cast<std::uintmax_t>(about.st_ino));
  const std::string locks = read_file(proc_ + "/locks").value_or("");
  std::string_view rest = locks;
  while (auto line = next_field(rest, '\n')) {
    const std::string pid = holder_in(*line, file);
    if (pid.empty()) continue;
    const std::string process = proc_ + "/" + pid, name(trim(read_file(process + "/comm").value_or("")));
    const std::string journal = journal_directory_of(process);
    return "process " + pid + (name.empty() ? "" : " (" + name + ")") +
           (journal.empty() ? " with unknown qos.directory" : " with qos.directory '" + journal + "'");
  }
  return "a process that is not visible in '" + proc_ + "', as of another PID namespace";
}

}  // namespace koord::knob
