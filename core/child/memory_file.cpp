// SPDX-License-Identifier: Apache-2.0
#include "core/child/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace koord::child {
namespace {

constexpr int kFixedSize = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Error failed() { return system_error(errno, "shared memory"); }

Result<UniqueFd> make() {
  UniqueFd fd(::memfd_create("koordetector", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return failed();
  return fd;
}

}  // namespace

Result<UniqueFd> memory_with(std::string_view bytes, bool sealed) {
  UniqueFd fd = TRY(make());
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t n = ::pwrite(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed();
    done += static_cast<std::size_t>(n);
  }
  if (sealed && ::fcntl(fd.get(), F_ADD_SEALS, kFixedSize | F_SEAL_WRITE) != 0) return failed();
  return fd;
}

Result<UniqueFd> memory_of(std::size_t size) {
  UniqueFd fd = TRY(make());
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, kFixedSize) != 0)
    return failed();
  return fd;
}

}  // namespace koord::child
