// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/file.hpp"

namespace koord::memory_events {

KernelLog::KernelLog(UniqueFd fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)), buffer_(kMaxRecordBytes) {}

Result<KernelLog> KernelLog::open(const std::string& path) {
  UniqueFd fd = TRY(open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (::lseek(fd.get(), 0, SEEK_END) < 0) return system_error(errno, "cannot go to the end of '" + path + "'");
  return KernelLog(std::move(fd), path);
}

Result<void> KernelLog::read(const std::function<void(std::string_view line)>& on_line) {
  for (std::size_t total = 0; total < kMaxBytes;) {
    const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());
    if (n == 0 || (n < 0 && errno == EAGAIN)) return {};
    total += n > 0 ? static_cast<std::size_t>(n) : kMaxRecordBytes;
    if (n < 0 && errno == EPIPE) continue;  // a record was overwritten; the next read returns the record after it
    if (n < 0) return system_error(errno, "cannot read '" + path_ + "'");
    pending_.append(buffer_.data(), static_cast<std::size_t>(n));
    pass_lines(on_line);
  }
  return {};
}

void KernelLog::pass_lines(const std::function<void(std::string_view line)>& on_line) {
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
    on_line(std::string_view(pending_).substr(begin, end - begin));
  pending_.erase(0, begin);
  if (pending_.size() > kMaxRecordBytes) pending_.clear();
}

}  // namespace koord::memory_events
