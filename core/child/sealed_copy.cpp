// SPDX-License-Identifier: Apache-2.0
#include "core/child/sealed_copy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <cerrno>

namespace koord::child {
namespace {

constexpr unsigned kMayBeExecuted = 0x10;  // MFD_EXEC, Linux 6.3. Without it vm.memfd_noexec decides
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
constexpr int kSealExecution = 0x20;  // F_SEAL_EXEC, Linux 6.3
constexpr std::size_t kMostNameBytes = 200;

Result<UniqueFd> memory_named(const std::string& name) {
  const std::string shown = name.substr(0, kMostNameBytes);
  UniqueFd memory(::memfd_create(shown.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | kMayBeExecuted));
  if (!memory && errno == EINVAL) memory.reset(::memfd_create(shown.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return system_error(errno, "memory for a copy of the plugin's file");
  return memory;
}

Result<void> copy(int file, int memory) {
  struct stat about;
  if (::fstat(file, &about) != 0) return system_error(errno, "the plugin's file");
  for (off_t at = 0; at < about.st_size;) {
    const ssize_t n = ::sendfile(memory, file, &at, static_cast<std::size_t>(about.st_size - at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, "copy of the plugin's file");
    if (n == 0)
      return invalid("expected " + std::to_string(about.st_size) + " bytes of the plugin's file, found " +
                     std::to_string(at));
  }
  return {};
}

}  // namespace

Result<UniqueFd> sealed_copy(int file, const std::string& name) {
  UniqueFd memory = TRY(memory_named(name));
  TRY(copy(file, memory.get()));
  ::fcntl(memory.get(), F_ADD_SEALS, kSealExecution);
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0 || ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0)
    return system_error(errno, "seals of the copy of the plugin's file");
  return memory;
}

}  // namespace koord::child
