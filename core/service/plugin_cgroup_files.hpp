// SPDX-License-Identifier: Apache-2.0
// The cgroup files that one plugin has open. Its handles are its own: another plugin's are invalid here, and files that
// it forgets to close are closed with its context. [any thread]; a read that does not return blocks only its caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/cgroup/reader.hpp"

namespace koord::service {

class PluginCgroupFiles {
 public:
  explicit PluginCgroupFiles(cgroup::Reader& reader) : reader_(reader) {}
  ~PluginCgroupFiles();
  PluginCgroupFiles(const PluginCgroupFiles&) = delete;
  PluginCgroupFiles& operator=(const PluginCgroupFiles&) = delete;

  Result<std::uint64_t> open(std::string_view cgroup, std::string_view file, std::span<const std::string_view> keys);
  // When the values were read, which may have been for another plugin.
  Result<Time> read(std::uint64_t handle, std::span<std::int64_t> values);
  void close(std::uint64_t handle);
  std::size_t open_files() const;

 private:
  struct File {
    cgroup::Handle handle;
    std::size_t keys;
  };

  Result<File> find(std::uint64_t handle) const;

  cgroup::Reader& reader_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, File> files_;
  std::uint64_t last_handle_ = 0;
};

}  // namespace koord::service
