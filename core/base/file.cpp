// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace koord {
namespace {

Result<void> write_all(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, "cannot write '" + path + "'");
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::vector<std::string>> list_entries(const std::string& path, bool directories_only) {
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), &::closedir);
  if (!dir) return system_error(errno, "cannot list '" + path + "'");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir.get())) {
    std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (directories_only && entry->d_type != DT_DIR) {
      struct stat info;
      if (entry->d_type != DT_UNKNOWN) continue;
      if (::fstatat(::dirfd(dir.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode))
        continue;
    }
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<UniqueFd> open_at(int dir, const std::string& path, int flags, unsigned mode) {
  UniqueFd fd(::openat(dir, path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd) return system_error(errno, "cannot open '" + path + "'");
  return fd;
}

Result<UniqueFd> open_directory(const std::string& path) { return open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY); }

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  return read_file_at(AT_FDCWD, path, max_bytes);
}

Result<std::string> read_file_at(int dir, const std::string& path, std::size_t max_bytes) {
  UniqueFd fd = TRY(open_at(dir, path, O_RDONLY));
  return read_all(fd.get(), path, max_bytes);
}

Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes) {
  std::string content;
  std::size_t used = 0;
  for (;;) {
    if (used == content.size()) content.resize(std::max<std::size_t>(4096, used * 2));
    ssize_t n = ::read(fd, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, "cannot read '" + path + "'");
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > max_bytes)
      return system_error(EFBIG, "cannot read '" + path + "', more than " + std::to_string(max_bytes) + " bytes");
  }
  content.resize(used);
  return content;
}

Result<std::string_view> pread_all(int fd, std::span<char> buffer) {
  ssize_t n;
  do {
    n = ::pread(fd, buffer.data(), buffer.size(), 0);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return system_error(errno, {});
  if (static_cast<std::size_t>(n) == buffer.size()) return system_error(EMSGSIZE, {});
  return std::string_view(buffer.data(), static_cast<std::size_t>(n));
}

Result<void> write_value(const std::string& path, std::string_view content) {
  return write_value_at(AT_FDCWD, path, content, path);
}

Result<void> write_value_at(int dir, const std::string& path, std::string_view content, const std::string& shown) {
  const UniqueFd fd(::openat(dir, path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!fd) return system_error(errno, "cannot open '" + shown + "'");
  const ssize_t n = ::write(fd.get(), content.data(), content.size());
  if (n < 0) return system_error(errno, "cannot write '" + std::string(content) + "' to '" + shown + "'");
  if (static_cast<std::size_t>(n) != content.size())
    return system_error(EIO, "wrote only a part of '" + std::string(content) + "' to '" + shown + "'");
  return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  std::string fresh = path + ".new." + std::to_string(::getpid());
  UniqueFd fd = TRY(open_at(AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC, mode));
  Result<void> written = write_all(fd.get(), fresh, content);
  fd.reset();
  if (written && ::rename(fresh.c_str(), path.c_str()) != 0)
    written = system_error(errno, "cannot replace '" + path + "'");
  if (!written) ::unlink(fresh.c_str());
  return written;
}

Result<std::vector<std::string>> list_directory(const std::string& path) { return list_entries(path, false); }

Result<std::vector<std::string>> list_subdirectories(const std::string& path) { return list_entries(path, true); }

}  // namespace koord
