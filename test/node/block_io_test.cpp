// SPDX-License-Identifier: Apache-2.0
// advisor-block-io on this machine's kernel: direct reads and writes of a known size on a loop device must be counted
// exactly, in bytes and operations, and only for the cgroup that made them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;
using koord::UniqueFd;
using koord::cgroup::Controller;

namespace {

constexpr std::size_t kBlock = 4096;  // small enough that the kernel never splits a request
constexpr int kWrites = 300, kReads = 200;
constexpr off_t kFileBytes = 4 << 20;

// A loop device over a file of the test. Detached and removed with the object.
class LoopDevice {
 public:
  LoopDevice() {
    file_ = UniqueFd(::mkostemp(path_, O_CLOEXEC));
    if (!file_ || ::ftruncate(file_.get(), kFileBytes) != 0) return;
    const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    for (int attempt = 0; control && attempt < 10 && !attached_; ++attempt) {  // a different process may be faster
      name_ = "loop" + std::to_string(::ioctl(control.get(), LOOP_CTL_GET_FREE));
      device_ = UniqueFd(::open(("/dev/" + name_).c_str(), O_RDWR | O_CLOEXEC));
      attached_ = device_ && ::ioctl(device_.get(), LOOP_SET_FD, file_.get()) == 0;
    }
  }
  ~LoopDevice() {
    if (attached_) ::ioctl(device_.get(), LOOP_CLR_FD, 0);
    ::unlink(path_);
  }
  bool attached() const { return attached_; }
  const std::string& name() const { return name_; }
  std::string number() const {
    struct stat info = {};
    ::fstat(device_.get(), &info);
    return std::to_string(::major(info.st_rdev)) + ":" + std::to_string(::minor(info.st_rdev));
  }

 private:
  char path_[32] = "/tmp/koord-test-loop-XXXXXX";
  UniqueFd file_, device_;
  std::string name_;
  bool attached_ = false;
};

// v1 kernels count only in cgroups with a limit. This limit is too high to have an effect.
void make_v1_count(const RealCgroup& cgroup, const LoopDevice& loop) {
  const std::string file = cgroup.path(Controller::blkio) + "/blkio.throttle.write_bps_device";
  if (::access(file.c_str(), W_OK) == 0) REQUIRE(koord::write_value(file, loop.number() + " 1000000000000"));
}

// Makes direct I/O in the cgroup, one block per call. Exits with status 0 if all calls succeeded.
void do_direct_io(const RealCgroup& cgroup, const LoopDevice& loop) {
  cgroup.add_process(::getpid());
  const int device = ::open(("/dev/" + loop.name()).c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  void* block = nullptr;
  if (device < 0 || ::posix_memalign(&block, kBlock, kBlock) != 0) ::_exit(1);
  for (int i = 0; i < kWrites; ++i)
    if (::pwrite(device, block, kBlock, static_cast<off_t>(i * kBlock)) != static_cast<ssize_t>(kBlock)) ::_exit(2);
  for (int i = 0; i < kReads; ++i)
    if (::pread(device, block, kBlock, static_cast<off_t>(i * kBlock)) != static_cast<ssize_t>(kBlock)) ::_exit(3);
}

}  // namespace

std::optional<std::string> why_not() {
  if (koord::cgroup::Layout::detect(koord::NodeRoots())->directory(Controller::blkio, "").empty())
    return "there is neither an io nor a blkio controller";
  return LoopDevice().attached() ? std::nullopt : std::optional<std::string>("no loop device can be attached");
}

TEST_CASE("direct reads and writes of a loop device are counted exactly, and for the cgroup that made them") {
  const LoopDevice loop;
  REQUIRE(loop.attached());
  RealCgroup busy("busy"), idle("idle");
  make_v1_count(busy, loop);
  ChildProcess worker([&] { do_direct_io(busy, loop); });
  REQUIRE(worker.wait(std::chrono::seconds(60)) == 0);
  RealAdvisor advisor({&busy, &idle});
  const auto value = [&](const char* metric, const RealCgroup& cgroup) {
    return advisor.value(metric, cgroup, {{"device", loop.name()}, {"device_number", loop.number()}});
  };
  // v2 adds up its counters when they are read, v1 immediately.
  CHECK(eventually([&] {
    advisor.tick();
    return value("container_block_reads_total", busy).value_or(0) >= kReads;
  }));
  CHECK(value("container_block_write_bytes_total", busy) == static_cast<double>(kWrites * kBlock));
  CHECK(value("container_block_writes_total", busy) == static_cast<double>(kWrites));
  CHECK(value("container_block_read_bytes_total", busy) == static_cast<double>(kReads * kBlock));
  CHECK(value("container_block_reads_total", busy) == static_cast<double>(kReads));
  CHECK_FALSE(value("container_block_reads_total", idle));
}
