// SPDX-License-Identifier: Apache-2.0
// Decisions on a full disk, on a read-only disk, and after SIGKILL, with a small real file system. Needs root.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "core/base/manual_clock.hpp"
#include "core/decision/decision_archive.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::decision;
using namespace std::chrono_literals;

namespace {

struct SmallDisk {
  test::FakeNode node{{"disk/", ""}};
  ManualClock clock;
  std::string folder = node.path("disk"), path = node.path("disk/decisions.db");
  bool mounted = ::mount("koord-test-decisions", folder.c_str(), "tmpfs", 0, "size=512k") == 0;

  ~SmallDisk() {
    if (mounted) ::umount2(folder.c_str(), MNT_DETACH);
  }
  void remount(unsigned long flags) const {
    REQUIRE(::mount("koord-test-decisions", folder.c_str(), "tmpfs", MS_REMOUNT | flags, "size=512k") == 0);
  }
  void fill() const {
    std::ofstream file(folder + "/filler", std::ios::binary);
    while (file.write(std::string(4096, 'f').data(), 4096).flush()) {
    }
  }
  DecisionArchive::Options options() const { return {path, 32u << 20, 1h, 1h}; }

  static Decision decision(std::uint64_t number) {
    Decision made;
    made.number = number;
    made.reason = std::string(500, 'r');
    return made;
  }
};

}  // namespace

TEST_CASE_FIXTURE(SmallDisk,
                  "on a full disk decisions wait in memory, which is reported, and are written when there is room") {
  DecisionArchive archive(options(), clock);
  archive.add(decision(1));
  REQUIRE(archive.find({}));
  fill();
  for (std::uint64_t i = 2; i <= 200; ++i) archive.add(decision(i));
  CHECK_FALSE(archive.find({}));
  CHECK(archive.status().problem.find("full") != std::string::npos);
  CHECK(archive.status().dropped == 0);
  node.remove("disk/filler");
  REQUIRE(archive.find({}));
  CHECK(archive.find({})->decisions.size() == 200);
  CHECK(archive.status().problem.empty());
}

TEST_CASE_FIXTURE(SmallDisk, "a read-only disk is reported, and used when it can be written") {
  remount(MS_RDONLY);
  DecisionArchive archive(options(), clock);
  archive.add(decision(1));
  CHECK_FALSE(archive.find({}));
  CHECK_FALSE(archive.status().problem.empty());
  remount(0);
  CHECK(archive.find({})->decisions.size() == 1);
}

TEST_CASE_FIXTURE(SmallDisk, "written records exist after SIGKILL") {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    DecisionArchive archive(options(), clock);
    for (std::uint64_t i = 1; i <= 50; ++i) archive.add(decision(i));
    if (!archive.find({}) || ::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte;
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  DecisionArchive again(options(), clock);
  CHECK(again.last_number() == 50);
}

int main(int argc, char** argv) {
  if (::geteuid() != 0 || !SmallDisk().mounted) {
    std::fprintf(stderr, "SKIPPED: mounting a small file system needs root\n");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
