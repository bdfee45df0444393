// SPDX-License-Identifier: Apache-2.0
// The journal on a full disk and on a read-only disk: a small real file system. Needs root.
#include <sys/mount.h>

#include <cstdio>

#include "core/base/manual_clock.hpp"
#include "core/knob/journal.hpp"
#include "test/support/child_process.hpp"
#include "test/support/small_disk.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using koord::test::Finished;
using koord::test::run_to_end;
using koord::test::SmallDisk;

namespace {

struct Disk {
  SmallDisk disk{"512k"};
  ManualClock clock;
  std::unique_ptr<Journal> journal;

  Disk() {
    REQUIRE(disk.mounted());
    start();
  }
  Journal::Found start() {
    journal.reset();
    journal = std::make_unique<Journal>(Journal::Options{disk / "qos", "boot"}, clock);
    Result<Journal::Found> found = journal->open();
    REQUIRE_MESSAGE(found, found.error().message());
    return *std::move(found);
  }
  static Original quota(const std::string& dir) {
    const Texts before{"-1", "100000"};
    return {.key = {dir, "cpu.max", ""},
            .level = Level::pod,
            .knob = "cpu.max",
            .cgroup = 7,
            .texts = before,
            .written = before,
            .asked = {{"20000", "100000"}}};
  }
  Result<void> keep(const std::string& dir) const { return journal->keep(std::vector{quota(dir)}); }
  // Stores originals until the disk is full. Returns how many were stored.
  int keep_until_refused() const {
    for (int i = 0; i < 10'000; ++i)
      if (!keep("be/pod" + std::to_string(i))) return i;
    return -1;
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(
    Disk, "on a full disk nothing new may be written, what is held can go back, and room is taken when there is some") {
  REQUIRE(keep("be"));
  disk.fill();
  const int before = keep_until_refused();
  REQUIRE(before >= 0);
  CHECK(contains(journal->problem(), "full"));
  CHECK(journal->size() == static_cast<std::size_t>(before) + 1);
  journal->forgotten(quota("be").key);
  journal->flush();
  CHECK(journal->size() == static_cast<std::size_t>(before));
  CHECK_FALSE(keep("other"));

  disk.empty();
  CHECK(keep("other"));
  CHECK(journal->problem() == "");
  const Journal::Found found = start();
  CHECK(found.left.size() == static_cast<std::size_t>(before) + 1);
  CHECK(found.left.back() == quota("other"));
}

TEST_CASE_FIXTURE(Disk, "a disk that is read-only at the start: nothing is written until it can be") {
  disk.remount(MS_RDONLY);
  start();
  CHECK(journal->problem() == "");
  CHECK_FALSE(keep("be"));
  CHECK(contains(journal->problem(), "Read-only file system"));
  disk.remount(0);
  CHECK(keep("be"));
}

TEST_CASE_FIXTURE(Disk, "originals are known though the disk is read-only or full now") {
  REQUIRE(keep("be"));
  // The state is the same as after SIGKILL, because no checkpoint has copied the write-ahead log into the file.
  const Finished copied = run_to_end({"cp", "-a", disk / "qos", disk / "killed"});
  REQUIRE_MESSAGE(copied.exit_status == 0, copied.output);
  REQUIRE(run_to_end({"rm", "-f", disk / "killed" + "/originals.db-shm"}).exit_status == 0);
  journal.reset();
  REQUIRE(run_to_end({"rm", "-r", disk / "qos"}).exit_status == 0);
  REQUIRE(run_to_end({"mv", disk / "killed", disk / "qos"}).exit_status == 0);
  bool is_full = false;
  SUBCASE("read-only") { disk.remount(MS_RDONLY); }
  SUBCASE("full") {
    disk.fill();
    is_full = true;
  }
  CHECK(start().left == std::vector{quota("be")});
  CHECK_FALSE(keep("other"));
  journal->forgotten(quota("be").key);
  is_full ? disk.empty() : disk.remount(0);
  REQUIRE(keep("other"));
  CHECK(start().left == std::vector{quota("other")});
}

int main(int argc, char** argv) {
  if (::geteuid() != 0 || !SmallDisk().mounted()) {
    std::fprintf(stderr, "SKIPPED: mounting a small file system needs root\n");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
