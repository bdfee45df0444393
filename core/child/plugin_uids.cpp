// SPDX-License-Identifier: Apache-2.0
#include "core/child/plugin_uids.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "core/base/file.hpp"

namespace koord::child {
namespace {

constexpr mode_t kParentMode = 0711;  // plugins may enter their own directory, but not list the directories of others
constexpr mode_t kOwnMode = 0700;

std::optional<struct stat> stat_of(const std::string& path) {
  struct stat about;
  if (::lstat(path.c_str(), &about) != 0) return std::nullopt;
  return about;
}

// Removes the write permission of other users, including plugins' users. Kubernetes makes an emptyDir with mode 0777
// without the sticky bit, so a plugin could replace files of the agent in it.
Result<void> close_to_plugins(const std::string& directory) {
  const auto found = stat_of(directory);
  if (!found || found->st_uid != ::geteuid() || (found->st_mode & S_ISVTX) != 0 || (found->st_mode & S_IWOTH) == 0)
    return {};
  const mode_t mode = found->st_mode & 07777 & ~static_cast<mode_t>(S_IWOTH);
  if (::chmod(directory.c_str(), mode) != 0) return system_error(errno, "'" + directory + "'");
  return {};
}

Result<void> make_parent(const std::string& directory) {
  const std::string above = std::filesystem::path(directory).parent_path();
  std::error_code failed;
  std::filesystem::create_directories(above, failed);
  TRY(close_to_plugins(above));
  if (::mkdir(directory.c_str(), kParentMode) != 0 && errno != EEXIST)
    return system_error(errno, "'" + directory + "'");
  // mkdir() applies the umask, so the mode is set again.
  if (::chmod(directory.c_str(), kParentMode) != 0) return system_error(errno, "'" + directory + "'");
  return {};
}

Result<void> set_aside(const std::string& path) {
  std::string aside;
  for (unsigned n = 1; aside.empty() || stat_of(aside); ++n) aside = path + "~" + std::to_string(n);
  if (::rename(path.c_str(), aside.c_str()) != 0) return system_error(errno, "'" + path + "' to '" + aside + "'");
  return {};
}

}  // namespace

Result<PluginUser> PluginUids::user_of(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto known = given_.find(id);
  PluginUser user{.uid = known == given_.end() ? 0 : known->second, .directory = {}, .problem = {}};
  Result<std::string> place = place_of(id, user.uid);
  if (user.uid == 0) user.uid = TRY(free_uid());
  if (place) {
    user.directory = std::move(*place);
  } else {
    user.problem = "no state directory: " + place.error().message();
  }
  given_[id] = user.uid;
  return user;
}

std::optional<PluginUser> PluginUids::known(const std::string& id) const {
  std::lock_guard lock(mutex_);
  const auto found = given_.find(id);
  if (found == given_.end() || directory_.empty()) return std::nullopt;
  return PluginUser{.uid = found->second, .directory = directory_ + "/" + id, .problem = {}};
}

// Returns the path of the plugin's directory. Sets `uid` to its owner if that is valid.
Result<std::string> PluginUids::place_of(const std::string& id, std::uint32_t& uid) {
  if (directory_.empty()) return invalid("neither plugins.stateDirectory nor store.path is set");
  TRY(make_parent(directory_));
  const std::string path = directory_ + "/" + id;
  if (auto found = stat_of(path)) {
    bool taken = false;
    for (const auto& [other, given] : given_) taken = taken || (other != id && given == found->st_uid);
    if (S_ISDIR(found->st_mode) && is_ours(found->st_uid) && !taken && (uid == 0 || uid == found->st_uid)) {
      uid = found->st_uid;
      return path;
    }
    TRY(set_aside(path));
  }
  if (uid == 0) uid = TRY(free_uid());
  TRY(make(path, uid));
  return path;
}

// Makes the directory under a temporary name that no plugin has, sets its owner, then renames it. So a directory with a
// plugin's name always has the right owner.
Result<void> PluginUids::make(const std::string& path, std::uint32_t uid) const {
  const std::string unfinished = path + "~new";
  ::rmdir(unfinished.c_str());
  if (::mkdir(unfinished.c_str(), kOwnMode) != 0) return system_error(errno, "'" + unfinished + "'");
  if (::chown(unfinished.c_str(), uid, uid) != 0) return system_error(errno, "owner of '" + unfinished + "'");
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return system_error(errno, "'" + path + "'");
  return {};
}

// Returns a uid that no plugin has and that owns no state directory. Directories of removed plugins remain, with their
// owners.
Result<std::uint32_t> PluginUids::free_uid() const {
  std::set<std::uint32_t> taken;
  for (const auto& [id, uid] : given_) taken.insert(uid);
  if (!directory_.empty())
    for (const std::string& name : list_directory(directory_).value_or({}))
      if (auto found = stat_of(directory_ + "/" + name)) taken.insert(found->st_uid);
  for (std::uint32_t n = 0; n < count_; ++n)
    if (!taken.contains(first_ + n)) return first_ + n;
  return invalid("all " + std::to_string(count_) +
                 " users of plugins.uids are taken; remove directories of plugins that are gone from '" + directory_ +
                 "'");
}

}  // namespace koord::child
