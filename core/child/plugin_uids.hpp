// SPDX-License-Identifier: Apache-2.0
// PluginUids: a user for each plugin id, and a directory that this user owns. The directories are the record: the owner
// of DIRECTORY/ID is the user of plugin ID, in this session and all later ones. A plugin cannot change that: the
// directory around its own belongs to the agent. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace koord::child {

struct PluginUser {
  std::uint32_t uid = 0;  // and gid
  std::string directory;  // empty: it has none
  std::string problem;    // why it has none
};

class PluginUids {
 public:
  // Users from `first` on, `count` of them. Without a directory they are remembered for this session alone.
  PluginUids(std::string directory, std::uint32_t first, std::uint32_t count)
      : directory_(std::move(directory)), first_(first), count_(count) {}

  // Fails when no user is left. Makes the directory, mode 0700. A file or directory of another owner in its place
  // is renamed to ID~N.
  Result<PluginUser> user_of(const std::string& id);

  // The user of a plugin that has a state directory and was given one in this session.
  std::optional<PluginUser> known(const std::string& id) const;

  std::uint32_t first() const { return first_; }
  std::uint32_t count() const { return count_; }

 private:
  bool is_ours(std::uint32_t uid) const { return uid >= first_ && uid - first_ < count_; }
  Result<std::uint32_t> free_uid() const;
  Result<std::string> place_of(const std::string& id, std::uint32_t& uid);
  Result<void> make(const std::string& path, std::uint32_t uid) const;

  const std::string directory_;
  const std::uint32_t first_, count_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t> given_;
};

}  // namespace koord::child
