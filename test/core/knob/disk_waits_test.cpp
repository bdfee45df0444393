// SPDX-License-Identifier: Apache-2.0
// The deciding thread waits for the disk only before the first write of a knob. The test counts calls of fsync and
// fdatasync.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/manual_clock.hpp"
#include "core/decision/decision_log.hpp"
#include "core/knob/journal.hpp"
#include "test/core/store/temporary_directory.hpp"

namespace {

thread_local int waits = 0;

}  // namespace

// Replaces the function of the C library, even for calls by SQLite.
extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  ++waits;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
extern "C" __attribute__((visibility("default"))) int fdatasync(int fd) {
  ++waits;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;

namespace {

struct Disk {
  test::TemporaryDirectory place;
  ManualClock clock;
  Journal journal{{place / "qos", "this boot"}, clock};

  Disk() {
    REQUIRE(journal.open());
    REQUIRE(journal.prepare());
  }
  static std::vector<Original> quotas(int n, const std::string& asked) {
    std::vector<Original> all;
    for (int i = 0; i < n; ++i)
      all.push_back({.key = {"pod" + std::to_string(i), "cpu.max", ""},
                     .level = Level::pod,
                     .knob = "cpu.max",
                     .cgroup = 7,
                     .texts = {"-1", "100000"},
                     .written = {"-1", "100000"},
                     .asked = {{asked, "100000"}}});
    return all;
  }
  template <class Work>
  static int waits_of(Work&& work) {
    waits = 0;
    work();
    return waits;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Disk, "before the first write of knobs the journal waits for the disk, once for all of a plan") {
  const int of_one = waits_of([&] { CHECK(journal.keep(quotas(1, "20000"))); });
  CHECK(of_one > 0);
  CHECK(waits_of([&] { CHECK(journal.keep(quotas(200, "20000"))); }) == of_one);
}

TEST_CASE_FIXTURE(Disk, "knobs that are written again, and reverted, wait for no disk") {
  REQUIRE(journal.keep(quotas(200, "20000")));
  CHECK(waits_of([&] {
          for (const Original& one : quotas(200, "20000")) journal.wrote(one.key, {"20000", "100000"});
          journal.flush();
          CHECK(journal.keep(quotas(200, "30000")));
          for (const Original& one : quotas(200, "30000")) journal.forgotten(one.key);
          journal.flush();
        }) == 0);
}

TEST_CASE_FIXTURE(Disk, "decisions are recorded on disk by another thread") {
  DecisionLog log;
  log.keep_in({.path = place / "decisions.db"}, clock);
  CHECK(waits_of([&] {
          for (int i = 0; i < 1000; ++i) log.add({.cgroup_dir = "pod", .knob = "cpu.max", .level = Level::pod});
        }) == 0);
}
