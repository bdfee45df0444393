// SPDX-License-Identifier: Apache-2.0
// Processes that use a disk, directly or through the page cache, for tests in which one waits for another. Header-only.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint64_t kMiB = 1u << 20;

inline std::unique_ptr<ChildProcess> start_threads_in(const RealCgroup& cgroup, const std::function<void()>& body,
                                                      int threads = 1) {
  return std::make_unique<ChildProcess>([&cgroup, body, threads] {
    cgroup.add_process(::getpid());
    std::vector<std::thread> all;
    for (int i = 1; i < threads; ++i) all.emplace_back(body);
    body();
  });
}

// Transfers one block after another within the first `size` bytes, without the page cache.
[[noreturn]] inline void transfer(const std::string& path, std::uint64_t size, int flags, std::size_t block,
                                  std::chrono::microseconds pause) {
  const UniqueFd fd(::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC));
  void* buffer = std::aligned_alloc(kPage, block);
  if (!fd || !buffer) ::_exit(1);
  std::memset(buffer, 1, block);
  for (std::uint64_t i = 0;; ++i) {
    const off_t at = static_cast<off_t>(i * 7 * block % size);
    const ssize_t n = flags == O_RDONLY ? ::pread(fd.get(), buffer, block, at) : ::pwrite(fd.get(), buffer, block, at);
    if (n != static_cast<ssize_t>(block)) ::_exit(1);
    if (pause.count() > 0) ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

// Reads pages at random offsets through the page cache.
[[noreturn]] inline void read_at_random(const std::string& path, std::uint64_t size, std::chrono::microseconds pause) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_RANDOM);
  std::minstd_rand random(1);
  char page[kPage];
  while (true) {
    const off_t at = static_cast<off_t>(random() % (size / kPage) * kPage);
    if (::pread(fd.get(), page, sizeof page, at) != static_cast<ssize_t>(sizeof page)) ::_exit(1);
    if (pause.count() > 0) ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

// Reads from the start to the end repeatedly, through the page cache.
[[noreturn]] inline void stream(const std::string& path, std::uint64_t size) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string block(64 * kPage, ' ');
  for (std::uint64_t at = 0;; at = (at + block.size()) % size)
    if (::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(at)) <= 0) ::_exit(1);
}

}  // namespace koord::test
