// SPDX-License-Identifier: Apache-2.0
#include "core/predict/checkpoint_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/file.hpp"
#include "core/predict/checkpoint.hpp"

namespace koord::predict {
namespace {

constexpr const char* kFreshName = "checkpoint.new";  // overwrites a file that a crash left

Result<void> write_through(int fd, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(errno, "cannot write '" + path + "'");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) return system_error(errno, "cannot bring '" + path + "' to the disk");
  return {};
}

Result<void> replace(int directory, const std::string& path, std::string_view text) {
  const UniqueFd fresh = TRY(open_at(directory, kFreshName, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  auto written = write_through(fresh.get(), path + "/" + kFreshName, text);
  if (!written) return written;
  if (::renameat(directory, kFreshName, directory, kCheckpointName) != 0)
    return system_error(errno, "cannot replace '" + path + "/" + kCheckpointName + "'");
  if (::fsync(directory) != 0) return system_error(errno, "cannot bring '" + path + "' to the disk");
  return {};
}

}  // namespace

Result<void> save_checkpoint(const std::string& directory, std::string_view text) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error(errno, "cannot make '" + directory + "'");
  const UniqueFd opened = TRY(open_directory(directory));
  auto replaced = replace(opened.get(), directory, text);
  if (!replaced) ::unlinkat(opened.get(), kFreshName, 0);
  return replaced;
}

Result<std::string> load_checkpoint(const std::string& directory) {
  auto text = read_file(directory + "/" + kCheckpointName, kMaxCheckpointBytes);
  if (!text && text.error().is(std::errc::no_such_file_or_directory)) return std::string();
  return text;
}

}  // namespace koord::predict
