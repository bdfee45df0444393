// SPDX-License-Identifier: Apache-2.0
// Full and read-only disks, with a small real file system of the test's own. Needs root.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#define DOCTEST_CONFIG_IMPLEMENT
#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr const char* kSource = "koord-test-store";

struct SmallDisk {
  TemporaryDirectory directory;
  bool mounted = false;

  SmallDisk() { mounted = ::mount(kSource, directory.path().c_str(), "tmpfs", 0, "size=4m") == 0; }
  ~SmallDisk() {
    if (mounted) ::umount2(directory.path().c_str(), MNT_DETACH);
  }
  void remount(unsigned long flags) const {
    REQUIRE(::mount(kSource, directory.path().c_str(), "tmpfs", MS_REMOUNT | flags, "size=4m") == 0);
  }
  void fill() const {
    std::ofstream file(directory / "filler", std::ios::binary);
    std::string block(4096, 'f');
    while (file.write(block.data(), 4096).flush()) {
    }
  }
  void empty() const { ::unlink((directory / "filler").c_str()); }
};

struct TroubleFixture : StoreFixture {
  SmallDisk disk;

  TroubleFixture() {
    REQUIRE(disk.mounted);
    options.path = disk.directory / "metrics.db";
    reopen();
    begin(1, "cpu");
  }
  // The writer tries again after a second or more of real time; each flush is one round of it.
  void flush_until(Mode mode) {
    auto give_up = std::chrono::steady_clock::now() + 60s;
    while (store->stats().mode != mode && std::chrono::steady_clock::now() < give_up) store->flush();
    REQUIRE(store->stats().mode == mode);
  }
};

}  // namespace

TEST_CASE_FIXTURE(TroubleFixture, "a full disk means memory mode, and the disk is used again when there is room") {
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

TEST_CASE_FIXTURE(TroubleFixture, "a disk that is read-only at the start is used as soon as it can be written") {
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

int main(int argc, char** argv) {
  if (::geteuid() != 0 || !SmallDisk().mounted) {
    std::fprintf(stderr, "SKIPPED: mounting a small file system needs root\n");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
