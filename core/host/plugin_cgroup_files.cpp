// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_cgroup_files.hpp"

namespace koord::host {

PluginCgroupFiles::~PluginCgroupFiles() {
  for (const auto& [handle, file] : files_) reader_.close(file.handle);
}

Result<std::uint64_t> PluginCgroupFiles::open(std::string_view cgroup, std::string_view file,
                                              std::span<const std::string_view> keys) {
  cgroup::Handle handle = TRY(reader_.open(cgroup, file, keys));
  std::lock_guard lock(mutex_);
  files_.emplace(++last_handle_, File{handle, keys.size()});
  return last_handle_;
}

Result<void> PluginCgroupFiles::read(std::uint64_t handle, std::span<std::int64_t> values) {
  std::lock_guard lock(mutex_);  // a handle of the reader is for one thread at a time
  auto file = files_.find(handle);
  if (file == files_.end()) return invalid("handle " + std::to_string(handle) + " is not open");
  if (values.size() != file->second.keys)
    return invalid("n is " + std::to_string(values.size()) + ", but the file was opened with " +
                   std::to_string(file->second.keys) + " keys");
  return reader_.read(file->second.handle, values);
}

void PluginCgroupFiles::close(std::uint64_t handle) {
  std::lock_guard lock(mutex_);
  auto file = files_.find(handle);
  if (file == files_.end()) return;
  reader_.close(file->second.handle);
  files_.erase(file);
}

std::size_t PluginCgroupFiles::open_files() const {
  std::lock_guard lock(mutex_);
  return files_.size();
}

}  // namespace koord::host
