// SPDX-License-Identifier: Apache-2.0
// Full, read-only and failing disks: small real file systems. Needs root.
#include <fcntl.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "core/base/unique_fd.hpp"
#include "test/core/store/store_fixture.hpp"
#include "test/support/child_process.hpp"
#include "test/support/small_disk.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// An ext4 file system in a file. The kernel's access to it can be made to fail during writes.
class FailingDisk {
 public:
  FailingDisk() {
    bool made = run({"truncate", "-s", "16M", image_}) && run({"mkfs.ext4", "-q", "-F", "-O", "^has_journal", image_});
    if (made) mount();
  }
  ~FailingDisk() { unmount(); }

  bool mounted() const { return mounted_; }
  std::string operator/(const char* name) const { return directory_ / name; }

  // Makes it read-only, as errors=remount-ro does after an error of the medium. Files that are open for writing stay
  // open. Files are synced first, because unwritten data would be lost.
  void turn_read_only() const {
    ::sync();
    REQUIRE((std::ofstream("/sys/fs/ext4/" + device() + "/trigger_fs_error") << 1).flush());
  }
  // Makes every access fail with EIO, as if the medium were missing.
  void fail() const {
    constexpr unsigned long kExt4Shutdown = _IOR('X', 125, __u32);
    __u32 flush_first = 0;
    UniqueFd fd(::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::ioctl(fd.get(), kExt4Shutdown, &flush_first) == 0);
  }
  void repair() {
    REQUIRE(unmount());
    mount();
    REQUIRE(mounted_);
  }

 private:
  static bool run(const std::vector<std::string>& command) { return run_to_end(command).exit_status == 0; }
  void mount() { mounted_ = run({"mount", "-o", "loop,errors=remount-ro", image_, directory_.path()}); }
  bool unmount() {
    if (mounted_) mounted_ = !run({"umount", directory_.path()});
    return !mounted_;
  }
  std::string device() const {
    std::string path = run_to_end({"losetup", "-n", "-O", "NAME", "-j", image_}).output;
    return path.substr(path.rfind('/') + 1, path.find_last_not_of("\n ") - path.rfind('/'));
  }

  TemporaryDirectory directory_;  // the mount point
  bool mounted_ = false;
  TemporaryDirectory place_;
  std::string image_ = place_ / "image";
};

// A store on such a disk. The writer tries again after a second or more of real time; each flush is one attempt.
template <class Disk>
struct StoreOn : StoreFixture {
  Disk disk;

  StoreOn() {
    REQUIRE(disk.mounted());
    options.path = disk / "metrics.db";
    reopen();
    begin(1, "cpu");
  }
  ~StoreOn() { store.reset(); }
  void flush_until(Mode mode) {
    auto give_up = std::chrono::steady_clock::now() + 60s;
    while (store->stats().mode != mode && std::chrono::steady_clock::now() < give_up) store->flush();
    REQUIRE(store->stats().mode == mode);
  }
  // Returns the number of samples in a query of the last minute. The last minute is in memory, so the query opens no
  // file.
  std::uint64_t last_minute() const {
    constexpr Aggregation kCount[] = {Aggregation::count};
    return store->aggregate_series(1, kCount, clock.now() - 60s, clock.now()).value_or(AggregateRow{}).count;
  }
};

using StoreOnSmallDisk = StoreOn<SmallDisk>;
using StoreOnFailingDisk = StoreOn<FailingDisk>;

}  // namespace

TEST_CASE_FIXTURE(StoreOnSmallDisk, "a full disk means memory mode, and the disk is used again when there is room") {
  REQUIRE(store->put("key", {}));
  append_seconds(1, 200);
  store->flush();
  disk.fill();
  for (int i = 0; i < 50 && store->stats().mode == Mode::disk; ++i) append_seconds(1, 50, 200 + i * 50);
  CHECK(store->stats().mode == Mode::memory);
  CHECK(store->stats().reason.find("full") != std::string::npos);
  std::size_t seen = values("cpu").size();
  store->erase("key");
  disk.empty();
  flush_until(Mode::disk);
  append_seconds(1, 10, 5000);
  CHECK(values("cpu").size() == seen + 10);
  reopen();
  CHECK(values("cpu").size() == seen + 10);
  CHECK_FALSE(store->get("key"));
}

TEST_CASE_FIXTURE(StoreOnSmallDisk, "a disk that is read-only at the start is used as soon as it can be written") {
  append_seconds(1, 500);
  store.reset();
  disk.remount(MS_RDONLY);
  reopen();
  CHECK(store->open_report().find("cannot be written, keeping samples in memory") != std::string::npos);
  begin(7, "cpu");
  append_seconds(7, 10, 500);
  CHECK(values("cpu") == counting(10, 500));
  disk.remount(0);
  flush_until(Mode::disk);
  CHECK(values("cpu") == counting(510));
}

TEST_CASE_FIXTURE(StoreOnFailingDisk,
                  "a disk that turns read-only while it is written is used again when it can be written") {
  append_seconds(1, 500);
  store->flush();
  disk.turn_read_only();
  append_seconds(1, 500, 500);
  CHECK(store->stats().mode == Mode::memory);
  // the kernel decides between "readonly database" and "disk I/O error"
  CHECK(store->stats().reason.starts_with("SQLite: "));
  CHECK(last_minute() == 60);
  disk.repair();
  flush_until(Mode::disk);
  append_seconds(1, 10, 1000);
  reopen();
  CHECK(values("cpu") == counting(1010));
}

TEST_CASE_FIXTURE(StoreOnFailingDisk,
                  "a disk that answers EIO is done without until it is back, older samples intact") {
  append_seconds(1, 500);
  store->flush();
  disk.fail();
  append_seconds(1, 300, 500);
  CHECK(store->stats().mode == Mode::memory);
  CHECK(store->stats().reason.find("disk I/O error") != std::string::npos);
  CHECK(last_minute() == 60);
  disk.repair();
  flush_until(Mode::disk);
  append_seconds(1, 10, 800);
  reopen();
  CHECK(values("cpu") == counting(810));
}

int main(int argc, char** argv) {
  if (::geteuid() != 0 || !SmallDisk().mounted()) {
    std::fprintf(stderr, "SKIPPED: mounting a small file system needs root\n");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
