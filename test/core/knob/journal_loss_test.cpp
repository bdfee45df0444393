// SPDX-License-Identifier: Apache-2.0
// A truncated journal: the originals that the next start adopts, and the loss that it reports.
#include <doctest/doctest.h>

#include <filesystem>

#include "test/core/knob/journal_fixture.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::test;

TEST_CASE_FIXTURE(
    JournalFixture,
    "a record that SIGKILL interrupts is no record: its knob was not written yet, and all earlier ones are there") {
  const std::string killed = place / "killed", log = journal_path(killed) + "-wal";
  const auto one = journal();
  found(*one);
  REQUIRE(keep(*one, {quota("be")}));
  REQUIRE(keep(*one, {quota("be/pod1")}));
  std::filesystem::create_directory(killed);
  for (const char* end : {"", "-wal"})
    std::filesystem::copy_file(journal_path(directory) + end, journal_path(killed) + end);
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 100);
  Journal next({killed, "this boot"}, clock);
  const Journal::Found after = found(next);
  CHECK(after.left == std::vector{quota("be")});
  CHECK(after.warnings.empty());
}

TEST_CASE_FIXTURE(
    JournalFixture,
    "a file that is cut off: the message says how much is missing, and names knobs that are still readable") {
  std::vector<Original> many;
  for (int i = 0; i < 500; ++i) many.push_back(quota("be/pod" + std::to_string(i)));
  keep(many);
  const auto size = std::filesystem::file_size(journal_path(directory));
  std::filesystem::resize_file(journal_path(directory), size - 4096);
  const Journal::Found after = found();
  REQUIRE(after.warnings.size() == 1);
  CHECK_MESSAGE(contains(after.warnings[0], "; 4096 of its " + std::to_string(size) + " bytes are missing; "),
                after.warnings[0]);
  CHECK_MESSAGE(contains(after.warnings[0], " of its records are readable and none is taken: cpu.max of 'be/pod"),
                after.warnings[0]);
  CHECK(after.warnings[0].ends_with(" more may keep a value of the previous agent"));
}
