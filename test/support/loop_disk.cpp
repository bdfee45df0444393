// SPDX-License-Identifier: Apache-2.0
#include "test/support/loop_disk.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace koord::test {

std::unique_ptr<LoopDisk> LoopDisk::attach(std::uint64_t bytes) {
  std::unique_ptr<LoopDisk> disk(new LoopDisk(bytes));
  if (disk->attached_) return disk;
  std::printf("SKIPPED: no loop device: %s\n", disk->why_.c_str());
  return nullptr;
}

LoopDisk::LoopDisk(std::uint64_t bytes) : attached_(try_to_attach(bytes)) {}

LoopDisk::~LoopDisk() {
  if (attached_) ::ioctl(device_.get(), LOOP_CLR_FD, 0);
}

dev_t LoopDisk::number() const {
  struct stat status {};
  ::fstat(device_.get(), &status);
  return status.st_rdev;
}

bool LoopDisk::try_to_attach(std::uint64_t bytes) {
  const UniqueFd memory(::memfd_create("koord-test-loop", MFD_CLOEXEC));
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) return fail("no memory for it");
  const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  // Retries, because a different process may have taken the free device.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const int index = control ? ::ioctl(control.get(), LOOP_CTL_GET_FREE) : -1;
    if (index < 0) return fail("no loop device is free");
    path_ = "/dev/loop" + std::to_string(index);
    device_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (device_ && ::ioctl(device_.get(), LOOP_SET_FD, memory.get()) == 0) return true;
  }
  return fail("cannot attach " + path_);
}

bool LoopDisk::fail(std::string why) {
  why_ = std::move(why) + " (" + std::strerror(errno) + ")";
  return false;
}

}  // namespace koord::test
