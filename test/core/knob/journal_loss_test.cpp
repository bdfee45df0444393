// SPDX-License-Identifier: Apache-2.0
// What the next start says of a journal that has lost a part.
#include <doctest/doctest.h>

#include <filesystem>

#include "test/core/knob/journal_fixture.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::test;

namespace {

// A journal as after SIGKILL, of two records written one after the other, whose log can be cut off.
struct CutLog : JournalFixture {
  const std::string killed = place / "killed", log = journal_path(killed) + "-wal";
  std::uint64_t first_record = 0;  // where it ends in the log

  CutLog() {
    const auto one = journal();
    found(*one);
    REQUIRE(keep(*one, {quota("be")}));
    first_record = std::filesystem::file_size(journal_path(directory) + "-wal");
    REQUIRE(keep(*one, {quota("be/pod1")}));
    std::filesystem::create_directory(killed);
    for (const char* end : {"", "-wal"}) std::filesystem::copy_file(journal_path(directory) + end, journal_path(killed) + end);
  }
  // The messages of the next start, when so many bytes of the log are missing.
  std::vector<std::string> notes(std::uint64_t missing) const {
    std::filesystem::resize_file(log, std::filesystem::file_size(log) - missing);
    const Journal::Found after = start();
    CHECK(after.told.empty());
    return after.notes;
  }
  Journal::Found start() const {
    Journal next({killed, "this boot"}, clock);
    return found(next);
  }
  std::string begin_of_message(std::uint64_t missing) const {
    return "'" + log + "' ends in an incomplete record (whole records taken: 1, bytes lost: " +
           std::to_string(std::filesystem::file_size(log) - missing - first_record) + "); ";
  }
};

}  // namespace

TEST_CASE_FIXTURE(CutLog, "a log that was not cut off loses nothing") {
  const Journal::Found whole = start();
  CHECK(whole.notes.empty());
  CHECK(whole.left == std::vector{quota("be"), quota("be/pod1")});
}

TEST_CASE_FIXTURE(CutLog, "a cut log: the next start names file, whole records, lost bytes and the knob in the lost record") {
  const std::string begin = begin_of_message(100);
  CHECK(notes(100) == std::vector<std::string>{begin + "if the disk lost it, cpu.max of 'be/pod1' keeps a value of the previous agent"});
  const Journal::Found again = start();  // said once
  CHECK(again.notes.empty());
  CHECK(again.left == std::vector{quota("be")});
}

TEST_CASE_FIXTURE(CutLog, "a cut log whose last record is not readable says so") {
  const std::string begin = begin_of_message(4000);
  CHECK(notes(4000) ==
        std::vector<std::string>{begin + "the knobs in the lost record are not readable; if the disk lost it, they keep a value of the previous agent"});
}

TEST_CASE_FIXTURE(JournalFixture, "a file that is cut off: the message says how much is missing, and names knobs that are still readable") {
  std::vector<Original> many;
  for (int i = 0; i < 500; ++i) many.push_back(quota("be/pod" + std::to_string(i)));
  keep(many);
  const auto size = std::filesystem::file_size(journal_path(directory));
  std::filesystem::resize_file(journal_path(directory), size - 4096);
  const Journal::Found after = found();
  REQUIRE(after.told.size() == 1);
  CHECK_MESSAGE(contains(after.told[0], "; 4096 of its " + std::to_string(size) + " bytes are missing; "), after.told[0]);
  CHECK_MESSAGE(contains(after.told[0], " of its records are readable and none is taken: cpu.max of 'be/pod"), after.told[0]);
  CHECK(after.told[0].ends_with(" more may keep a value of the previous agent"));
}
