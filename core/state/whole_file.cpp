// SPDX-License-Identifier: Apache-2.0
#include "core/state/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "core/base/file.hpp"

namespace koord::state {
namespace {

// A read lease. The kernel refuses it while a process has the file open for writing. A process that opens the file for
// writing later waits until the lease ends.
class Lease {
 public:
  // When a writer waits, the kernel sends a signal. The default is SIGIO, which would end the agent; SIGURG is ignored.
  explicit Lease(int fd) : fd_(fd) {
    if (::fcntl(fd, F_SETSIG, SIGURG) != 0) return;
    holds_ = ::fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
    has_writer_ = !holds_ && errno == EAGAIN;
  }
  ~Lease() {
    if (holds_) ::fcntl(fd_, F_SETLEASE, F_UNLCK);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  bool has_writer() const { return has_writer_; }

 private:
  int fd_;
  bool holds_ = false, has_writer_ = false;
};

bool same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

bool same(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && same_time(a.st_mtim, b.st_mtim) && same_time(a.st_ctim, b.st_ctim);
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path, std::size_t max_bytes) {
  const UniqueFd fd = TRY(open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));  // opening a pipe must not block
  struct stat before, after;
  if (::fstat(fd.get(), &before) != 0) return system_error(errno, "cannot read '" + path + "'");
  if (!S_ISREG(before.st_mode)) return invalid("'" + path + "' is not a regular file");
  if (static_cast<std::uint64_t>(before.st_size) > max_bytes)
    return system_error(EFBIG, "cannot read '" + path + "', more than " + std::to_string(max_bytes) + " bytes");
  const Lease lease(fd.get());
  if (lease.has_writer()) return invalid("'" + path + "' is open for writing, so it may be incomplete");
  std::string text = TRY(read_all(fd.get(), path, max_bytes));
  if (::fstat(fd.get(), &after) != 0) return system_error(errno, "cannot read '" + path + "'");
  if (!same(before, after)) return invalid("'" + path + "' changed while it was read");
  return text;
}

}  // namespace koord::state
