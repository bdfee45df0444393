// SPDX-License-Identifier: Apache-2.0
// Workloads that use block devices, and the numbers that bpf/block_blame counts for them.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "plugins/advisor-interference/block_blame.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/must.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

using interference::BlockBlame;
using interference::BlockPart;
using interference::BlockReading;
using interference::BlockStream;
using interference::Direction;
using latency::CgroupTree;

constexpr std::size_t kBlock = 4096, kBulk = 64 << 10;
constexpr std::uint64_t kDiskSize = 32 << 20;
constexpr int kReads = 2000;

inline CgroupTree real_tree() { return must(CgroupTree::find("blkio", "/sys/fs/cgroup", "/proc")); }

// Transfers without the page cache, with one request per block.
inline void transfer(const std::string& path, int flags, std::size_t block, int n, timespec pause = {}) {
  const UniqueFd fd(::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC));
  void* buffer = std::aligned_alloc(kBlock, block);
  if (!fd || !buffer) ::_exit(1);
  for (int i = 0; n < 0 || i < n; ++i) {
    const off_t at = static_cast<off_t>(static_cast<std::uint64_t>(i) * 7 * block % kDiskSize);
    const ssize_t done =
        flags == O_RDONLY ? ::pread(fd.get(), buffer, block, at) : ::pwrite(fd.get(), buffer, block, at);
    if (done != static_cast<ssize_t>(block)) ::_exit(1);
    if (pause.tv_nsec > 0) ::nanosleep(&pause, nullptr);
  }
  std::free(buffer);
}

// A cgroup with processes that transfer blocks.
struct Workload {
  explicit Workload(const std::string& name) : cgroup(name), id(must(real_tree().directory(cgroup.dir())).id) {}

  void start(int threads, const std::function<void()>& body) {
    processes.push_back(std::make_unique<ChildProcess>([this, threads, body] {
      cgroup.add_process(::getpid());
      std::vector<std::thread> all;
      for (int i = 0; i < threads; ++i) all.emplace_back(body);
      for (std::thread& one : all) one.join();
    }));
  }
  void run(const std::function<void()>& body) {
    start(1, body);
    const bool done = processes.back()->wait(std::chrono::seconds(60)) == 0;
    processes.pop_back();
    REQUIRE(done);
  }

  RealCgroup cgroup;
  std::uint64_t id;
  std::vector<std::unique_ptr<ChildProcess>> processes;
};

// Everything that was read since the start.
class Observed {
 public:
  explicit Observed(dev_t device) : device_(number_of(device)), blame_(must(BlockBlame::open(real_tree()))) {}

  void read() {
    BlockReading reading = must(blame_.read());
    for (const BlockStream& stream : reading.streams) streams_.push_back(stream);
    for (const BlockPart& part : reading.parts) parts_.push_back(part);
  }
  void forget() {
    read();
    streams_.clear();
    parts_.clear();
  }
  BlockStream of(const Workload& workload, Direction direction) const {
    BlockStream sum;
    for (const BlockStream& one : streams_) {
      if (one.cgroup != workload.id || one.device != device_ || one.direction != direction) continue;
      sum.latency += one.latency;
      sum.bytes += one.bytes;
      sum.alone_requests += one.alone_requests;
      sum.alone_ns += one.alone_ns;
      sum.own_requests += one.own_requests;
      sum.own_ns += one.own_ns;
    }
    return sum;
  }
  // Null: all culprits together.
  BlockPart by(const Workload& victim, const Workload* culprit, Direction direction) const {
    return culprit ? by(victim, std::optional(culprit->id), direction) : by(victim, std::nullopt, direction);
  }
  BlockPart by(const Workload& victim, std::optional<std::uint64_t> culprit, Direction direction) const {
    BlockPart sum;
    for (const BlockPart& one : parts_) {
      if (one.victim != victim.id || one.device != device_ || one.direction != direction) continue;
      if (culprit && one.culprit != *culprit) continue;
      sum.requests += one.requests;
      sum.ns += one.ns;
    }
    return sum;
  }

 private:
  static std::uint32_t number_of(dev_t device) { return major(device) << 20 | minor(device); }

  std::uint32_t device_;
  BlockBlame blame_;
  std::vector<BlockStream> streams_;
  std::vector<BlockPart> parts_;
};

inline double mean_us(const BlockStream& stream) {
  return double(stream.latency.sum_ns) / 1000 / double(std::max<std::uint64_t>(1, stream.latency.count));
}

// A file on a disk of this machine, with its device; empty if no disk holds files.
struct DiskFile {
  DiskFile() {
    path = "/var/tmp/koord-test-blame-" + std::to_string(::getpid());
    const UniqueFd fd(::open(path.c_str(), O_CREAT | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || major(status.st_dev) == 0) return;
    device = status.st_dev;
    std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(kBlock, kBulk), &std::free);
    std::memset(block.get(), 1, kBulk);  // reads of unwritten parts of a file do not use the disk
    for (std::uint64_t at = 0; at < kDiskSize; at += kBulk)
      if (::pwrite(fd.get(), block.get(), kBulk, static_cast<off_t>(at)) != static_cast<ssize_t>(kBulk)) device = 0;
  }
  ~DiskFile() { ::unlink(path.c_str()); }
  bool is_on_disk() const {
    if (device == 0) std::printf("SKIPPED: no disk holds /var/tmp\n");
    return device != 0;
  }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  std::string path;
  dev_t device = 0;
};

}  // namespace koord::test
