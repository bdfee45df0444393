// SPDX-License-Identifier: Apache-2.0
#include "core/service/root_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/base/file.hpp"

namespace koord::service {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // does not wait for the writer of a FIFO

Error leads_out(const std::string& root, const std::string& relative) {
  return invalid("'" + relative + "' leads out of '" + root + "'");
}

long openat2_beneath(int dir, const std::string& relative, Links links) {
  open_how how = {};
  how.flags = static_cast<std::uint64_t>(kOpenFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::refused) how.resolve |= RESOLVE_NO_SYMLINKS;
  long fd;
  do {  // EAGAIN: a directory of the path was renamed during the lookup
    fd = ::syscall(SYS_openat2, dir, relative.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return fd;
}

bool has_openat2() {
  // The invalid size 0 distinguishes a missing (ENOSYS) or forbidden (EPERM) system call from an available system call
  // (EINVAL).
  static const bool has = ::syscall(SYS_openat2, AT_FDCWD, "", nullptr, 0) < 0 && errno == EINVAL;
  return has;
}

Result<std::string> real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  if (!resolved) return system_error(errno, "cannot open '" + path + "'");
  return std::string(resolved.get());
}

}  // namespace

Result<UniqueFd> open_below(const std::string& root, const std::string& relative, Links links) {
  if (!has_openat2()) return open_below_by_path(root, relative, links);
  const UniqueFd dir = TRY(open_at(AT_FDCWD, root, O_PATH | O_DIRECTORY));
  const long fd = openat2_beneath(dir.get(), relative, links);
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  // ELOOP: a link that may not be followed, or a magic link such as /proc/1/root, which may lead anywhere.
  if (errno == EXDEV || errno == ELOOP) return leads_out(root, relative);
  return system_error(errno, "cannot open '" + root + "/" + relative + "'");
}

Result<UniqueFd> open_below_by_path(const std::string& root, const std::string& relative, Links links) {
  if (relative.starts_with('/')) return leads_out(root, relative);
  const std::string real_root = TRY(real_path(root));
  const std::string target = TRY(real_path(root + "/" + relative));
  if (target != real_root && !target.starts_with(real_root + "/")) return leads_out(root, relative);
  if (links == Links::refused && target != real_root + "/" + relative) return leads_out(root, relative);
  return open_at(AT_FDCWD, target, kOpenFlags);
}

}  // namespace koord::service
