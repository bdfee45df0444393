// SPDX-License-Identifier: Apache-2.0
// Reading and writing small files, the way kernel interfaces want it: whole values, descriptors relative to
// a directory, every error with the path in it. Paths are relative to `dir` unless absolute; AT_FDCWD is the
// current directory. All functions may be called from any thread.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord {

// Larger files are refused: nothing the agent reads whole is bigger, and a hostile one must not fill memory.
inline constexpr std::size_t kMaxFileBytes = 64u << 20;

Result<UniqueFd> open_at(int dir, const std::string& path, int flags, unsigned mode = 0644);
Result<UniqueFd> open_directory(const std::string& path);

Result<std::string> read_file(const std::string& path, std::size_t max_bytes = kMaxFileBytes);
Result<std::string> read_file_at(int dir, const std::string& path, std::size_t max_bytes = kMaxFileBytes);

// From where the descriptor stands to its end; `path` is for the error.
Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes = kMaxFileBytes);

// Reads a kept descriptor from offset 0 into `buffer` with one pread, as cgroup and proc files allow; a value
// that fills the buffer is an error (EMSGSIZE). ENODEV means that the cgroup behind the descriptor is gone.
Result<std::string_view> pread_all(int fd, std::span<char> buffer);

// Writes `content` to an existing file with a single write(2), as cgroup files want it.
Result<void> write_value(const std::string& path, std::string_view content);

// The same of a file in an open directory; `shown` stands for it in an error.
Result<void> write_value_at(int dir, const std::string& path, std::string_view content, const std::string& shown);

// Replaces `path` by a file with this content; a reader sees the old or the new one, never a part.
Result<void> write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);

// Names in a directory, sorted, without "." and "..".
Result<std::vector<std::string>> list_directory(const std::string& path);
Result<std::vector<std::string>> list_subdirectories(const std::string& path);

}  // namespace koord
