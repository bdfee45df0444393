// SPDX-License-Identifier: Apache-2.0
// The installed advisor-memory-latency on this machine's kernel: a process at its memory limit has stalls, others have
// none.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "core/base/unique_fd.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord::test;

namespace {

constexpr std::uint64_t kMiB = 1u << 20;
const koord::metric::Labels kAtLimit = {{"kind", "memcg_reclaim"}};

void read_in(const RealCgroup& cgroup, const LoopDisk& disk, std::uint64_t from, std::uint64_t to) {
  ChildProcess reader([&] {
    cgroup.add_process(::getpid());
    const koord::UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_CLOEXEC));
    std::string block(kMiB, ' ');
    for (std::uint64_t at = from; at < to; at += block.size())
      if (::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(at)) <= 0) ::_exit(1);
  });
  REQUIRE(reader.wait(std::chrono::seconds(120)) == 0);
}

}  // namespace

std::optional<std::string> why_not() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) return "the kernel has no types";
  if (!LoopDisk::attach(kMiB)) return "no loop device";
  return std::nullopt;
}

TEST_CASE(
    "a container at its memory limit has stalled, its neighbour has not, and the node has at least the same stall time") {
  const auto disk = LoopDisk::attach(144 * kMiB);
  const RealCgroup squeezed("squeezed"), roomy("roomy");
  squeezed.limit_memory(32 * kMiB);
  RealAdvisor advisor({&squeezed, &roomy}, R"({"histograms": "all"})");
  advisor.tick();
  CHECK(advisor.value("container_memory_stall_seconds_total", squeezed, kAtLimit) == 0.0);
  read_in(squeezed, *disk, 0, 128 * kMiB);
  read_in(roomy, *disk, 128 * kMiB, 144 * kMiB);
  advisor.tick();
  const double stalled = advisor.value("container_memory_stall_seconds_total", squeezed, kAtLimit).value_or(-1);
  CHECK(stalled > 0);
  CHECK(advisor.value("container_memory_stall_seconds_total", roomy, kAtLimit) == 0.0);
  CHECK(advisor.host().value("node_memory_stall_seconds_total", kAtLimit).value_or(-1) >= stalled);
  const double mean = advisor.value("container_memory_latency_mean_seconds", squeezed).value_or(-1);
  const double stalls = advisor.value("container_memory_latency_seconds", squeezed).value_or(-1);
  CHECK(mean * stalls == doctest::Approx(stalled).epsilon(0.01));
  CHECK_FALSE(advisor.value("container_memory_latency_mean_seconds", roomy));
  CHECK(advisor.host().value("memory_latency_lost_total", {{"reason", "no_slot"}}) == 0.0);
}

TEST_CASE("the last stall before a container's end is still its own") {
  const auto disk = LoopDisk::attach(128 * kMiB);
  RealCgroup squeezed("ending");
  squeezed.limit_memory(32 * kMiB);
  RealAdvisor advisor({&squeezed});
  advisor.tick();
  read_in(squeezed, *disk, 0, 128 * kMiB);
  squeezed.remove();
  advisor.tick();
  CHECK(advisor.value("container_memory_stall_seconds_total", squeezed, kAtLimit).value_or(-1) > 0);
}
