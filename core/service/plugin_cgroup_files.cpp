// SPDX-License-Identifier: Apache-2.0
#include "core/service/plugin_cgroup_files.hpp"

#include <optional>

namespace koord::service {

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

Result<Time> PluginCgroupFiles::read(std::uint64_t handle, std::span<std::int64_t> values) {
  const File file = TRY(find(handle));
  if (values.size() != file.keys)
    return invalid("n is " + std::to_string(values.size()) + ", but the file was opened with " +
                   std::to_string(file.keys) + " keys");
  return reader_.read(file.handle, values);
}

Result<PluginCgroupFiles::File> PluginCgroupFiles::find(std::uint64_t handle) const {
  std::lock_guard lock(mutex_);
  auto file = files_.find(handle);
  if (file == files_.end()) return invalid("handle " + std::to_string(handle) + " is not open");
  return file->second;
}

void PluginCgroupFiles::close(std::uint64_t handle) {
  std::optional<cgroup::Handle> closed;
  {
    std::lock_guard lock(mutex_);
    auto file = files_.find(handle);
    if (file == files_.end()) return;
    closed = file->second.handle;
    files_.erase(file);
  }
  reader_.close(*closed);
}

std::size_t PluginCgroupFiles::open_files() const {
  std::lock_guard lock(mutex_);
  return files_.size();
}

}  // namespace koord::service
