// SPDX-License-Identifier: Apache-2.0
// The installed advisor-block-latency on this machine's kernel: a container has on /metrics the requests and bytes that
// it sent to a disk.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord::test;

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::uint64_t kReads = 200;

void read_direct_in(const RealCgroup& cgroup, const LoopDisk& disk) {
  ChildProcess reader([&] {
    cgroup.add_process(::getpid());
    const koord::UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
    void* buffer = std::aligned_alloc(kBlock, kBlock);
    for (std::uint64_t i = 0; i < kReads; ++i)
      if (::pread(fd.get(), buffer, kBlock, static_cast<off_t>(i * kBlock)) <= 0) ::_exit(1);
  });
  REQUIRE(reader.wait(std::chrono::seconds(60)) == 0);
}

}  // namespace

std::optional<std::string> why_not() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) return "the kernel has no types";
  if (!LoopDisk::attach(kBlock)) return "no loop device";
  return std::nullopt;
}

TEST_CASE("a container has the requests and bytes that it read from a disk, and its neighbour has none") {
  const auto disk = LoopDisk::attach(4u << 20);
  const koord::metric::Labels reads = {{"device", disk->path().substr(5)}, {"operation", "read"}};
  const RealCgroup reading("reading"), idle("idle");
  RealAdvisor advisor({&reading, &idle}, R"({"devices": "all"})");
  advisor.tick();
  read_direct_in(reading, *disk);
  advisor.tick();
  CHECK(advisor.value("container_block_device_requests_total", reading, reads) == static_cast<double>(kReads));
  CHECK(advisor.value("container_block_device_bytes_total", reading, reads) == static_cast<double>(kReads * kBlock));
  CHECK(advisor.value("container_block_latency_mean_seconds", reading, {{"direction", "read"}}).value_or(-1) > 0);
  CHECK(advisor.value("container_block_time_seconds_total", reading, {{"phase", "device"}}).value_or(-1) > 0);
  CHECK(advisor.value("container_block_time_seconds_total", idle, {{"phase", "device"}}) == 0.0);
  CHECK_FALSE(advisor.value("container_block_device_requests_total", idle, reads));
}

TEST_CASE("its marker is in the directory it was given as long as the programs are in the kernel") {
  const FakeNode state;
  const auto files = [&] { return koord::list_directory(state.path("run")).value(); };
  {
    const RealAdvisor advisor({}, "{\"marker\": \"" + state.path("run") + "\"}");
    REQUIRE(files().size() == 1);
    CHECK(files()[0].starts_with("advisor-block-latency.tracing-"));
    const std::string boot_id = koord::read_file("/proc/sys/kernel/random/boot_id").value();
    CHECK(koord::read_file(state.path("run") + "/" + files()[0]).value() == koord::trim(boot_id));
  }
  CHECK(files().empty());
}
