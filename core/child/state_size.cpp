// SPDX-License-Identifier: Apache-2.0
#include "core/child/state_size.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "core/base/unique_fd.hpp"

namespace koord::child {
namespace {

constexpr std::uint64_t kLeastOfEntry = 4096;
constexpr std::uint64_t kBlock = 512;    // unit of st_blocks, stat(2)
constexpr unsigned kDeepestFolder = 32;  // each level keeps a descriptor open
constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

// Makes this thread read files as another user. Changing the user clears the dumpable flag of the whole process; the
// destructor sets it again.
class AsUser {
 public:
  explicit AsUser(std::uint32_t uid) : dumpable_(::prctl(PR_GET_DUMPABLE)), before_(::setfsuid(uid)) {}
  ~AsUser() {
    ::setfsuid(static_cast<uid_t>(before_));
    if (dumpable_ == 1) ::prctl(PR_SET_DUMPABLE, 1);
  }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  const int dumpable_, before_;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class StateWalk {
 public:
  explicit StateWalk(std::uint64_t enough) : enough_(enough) {}

  // Adds the size of a directory. Returns 0, or the errno of a directory that cannot be read. A directory that was
  // removed meanwhile counts as empty.
  int add(int parent, const char* name, unsigned depth) {
    const int fd = ::openat(parent, name, kOpenFlags);
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
    std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd));
    if (!directory) return errno;
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string_view shown = entry->d_name;
      if (shown == "." || shown == "..") continue;
      struct stat about;
      if (::fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed meanwhile
      bytes_ += std::max(static_cast<std::uint64_t>(about.st_blocks) * kBlock, kLeastOfEntry);
      if (bytes_ > enough_) return 0;
      if (!S_ISDIR(about.st_mode)) continue;
      if (depth == kDeepestFolder) return ENAMETOOLONG;
      if (const int error = add(fd, entry->d_name, depth + 1); error != 0 || bytes_ > enough_) return error;
    }
    return 0;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::uint64_t enough_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<std::uint64_t> state_size(const std::string& directory, std::uint32_t uid, std::uint64_t enough) {
  StateWalk own(enough);
  int error = own.add(AT_FDCWD, directory.c_str(), 0);
  if (error == 0) return own.bytes();
  if (error == EACCES) {
    const AsUser user(uid);
    StateWalk as_user(enough);
    error = as_user.add(AT_FDCWD, directory.c_str(), 0);
    if (error == 0) return as_user.bytes();
  }
  if (error == ENAMETOOLONG) return invalid("directories nested deeper than " + std::to_string(kDeepestFolder));
  return system_error(error, "a directory in it");
}

}  // namespace koord::child
