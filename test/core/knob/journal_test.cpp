// SPDX-License-Identifier: Apache-2.0
#include "core/knob/journal.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "test/core/knob/journal_fixture.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;

TEST_CASE_FIXTURE(JournalFixture, "originals stored before a write are found by the next start, word by word") {
  const Original set{.key = {"be/pod1/app", "cpuset.cpus", ""},
                     .level = Level::container,
                     .knob = "cpuset.cpus",
                     .cgroup = ~0ull,
                     .texts = {""},
                     .written = {""},
                     .asked = {{"0-3"}, {"0-3,8"}}};
  const Original throttle{
      .key = {"be", "io.max", "8:16"}, .knob = "io.max", .texts = {""}, .written = {"8:16 rbps=1 wbps=max"}};
  const Original device{
      .key = {"be", "io.max", "8:32"}, .knob = "io.max", .texts = {"8:32 rbps=7"}, .written = {"8:32 rbps=1"}};
  const Original on_v1{.key = {"be", "io.max", "8:48"},
                       .knob = "io.max",
                       .texts = {"", "8:48 1", "", ""},
                       .written = {"", "", "", ""},
                       .asked = {{"8:48 2", "", "", ""}, {"", "", "", ""}}};
  keep({quota("be"), set, throttle, device, on_v1});
  CHECK(found().left == std::vector<Original>{quota("be"), throttle, device, on_v1, set});
}

TEST_CASE_FIXTURE(JournalFixture,
                  "until the result of a write is known, all possible values are kept; then the actual one") {
  const Original before = quota("be", {{"20000", "100000"}, {"30000", "100000"}});
  Original after = before;
  after.written = {"20000", "100000"};
  after.asked.clear();
  auto one = journal();
  found(*one);
  REQUIRE(keep(*one, {before}));
  one->wrote(before.key, after.written);
  one.reset();  // like after SIGKILL, because nothing is saved
  one = journal();
  CHECK(found(*one).left == std::vector{before});
  one->wrote(before.key, after.written);
  one->wrote({"never", "kept", ""}, {"1"});
  one->flush();
  one.reset();
  CHECK(found().left == std::vector{after});
}

TEST_CASE_FIXTURE(JournalFixture, "a reverted original is forgotten") {
  auto one = journal();
  found(*one);
  REQUIRE(keep(*one, {quota("be"), quota("be/pod1")}));
  one->forgotten(quota("be").key);
  one->forgotten({"never", "kept", ""});
  one->flush();
  one.reset();
  CHECK(found().left == std::vector{quota("be/pod1")});
}

TEST_CASE_FIXTURE(JournalFixture, "a new cgroup of an old one's name has an original of its own") {
  keep({quota("be")});
  const auto one = journal();
  found(*one);
  const Original fresh = quota("be", {{"1", "2"}}, 8);
  REQUIRE(keep(*one, {fresh}));
  CHECK(one->size() == 1);
}

TEST_CASE_FIXTURE(JournalFixture, "a node that was started again has the kernel's values, and nothing is left") {
  keep({quota("be")});
  const Journal::Found after = found(*journal("the next boot"));
  CHECK(after.left.empty());
  REQUIRE(after.warnings.size() == 1);
  CHECK(contains(after.warnings[0], "1 knobs had values of ours before the node was started again"));
  CHECK(found(*journal("the next boot")).warnings.empty());
}

TEST_CASE_FIXTURE(JournalFixture, "searching for originals of an earlier session creates neither folder nor file") {
  CHECK(found().left.empty());
  CHECK_FALSE(std::filesystem::exists(directory));
  const auto one = journal();
  found(*one);
  CHECK(one->problem() == "");
  REQUIRE(one->prepare());
  struct stat about;
  REQUIRE(::stat(directory.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  CHECK(std::filesystem::exists(journal_path(directory)));
}

TEST_CASE_FIXTURE(JournalFixture, "without a folder nothing may be written, and the key is named") {
  Journal none({"", "boot"}, clock);
  REQUIRE(none.open());
  CHECK(contains(none.problem(), "qos.directory is not set"));
  CHECK_FALSE(keep(none, {quota("be")}));
  CHECK_FALSE(none.prepare());
}

TEST_CASE_FIXTURE(JournalFixture, "no write is allowed before the originals of an earlier session are known") {
  const auto one = journal();
  CHECK_FALSE(keep(*one, {quota("be")}));
  CHECK(contains(one->problem(), "could not be read yet"));
}

TEST_CASE_FIXTURE(JournalFixture, "two agents do not share a journal") {
  const auto one = journal();
  found(*one);
  REQUIRE(one->prepare());
  const auto other = JournalFixture::journal();
  const Result<Journal::Found> opened = other->open();
  REQUIRE_FALSE(opened);
  CHECK(contains(opened.error().message(), "belong to another agent that runs"));
  CHECK_FALSE(keep(*other, {quota("be")}));
}

TEST_CASE_FIXTURE(JournalFixture,
                  "a file that is damaged is set aside, and nothing is written until an operator has checked it") {
  std::vector<Original> many;
  for (int i = 0; i < 500; ++i) many.push_back(quota("be/pod" + std::to_string(i)));
  SUBCASE("its first page") {
    keep(many);
    damage(std::string(64, 'x'), 0);
  }
  SUBCASE("a page within") {
    keep(many);
    damage(std::string(4096, '\xff'), 3 * 4096);
  }
  SUBCASE("cut off") {
    keep(many);
    std::filesystem::resize_file(journal_path(directory), 3 * 4096);
  }
  SUBCASE("a newer version's") {
    keep(many);
    run("PRAGMA user_version=2");
  }
  SUBCASE("another program's") {
    keep(many);
    run("PRAGMA application_id=1");
  }
  SUBCASE("a row that means nothing") {
    keep(many);
    run("UPDATE knob SET level=17");
  }
  SUBCASE("a row of what is no cgroup") {
    keep({quota("be")});
    run("UPDATE knob SET cgroup='../be'");
  }
  SUBCASE("no database") {
    std::filesystem::create_directory(directory);
    std::ofstream(journal_path(directory))
        << "not a database at all, and longer than a header of one hundred bytes would be, so that it is looked at\n";
  }
  auto one = journal();
  const Journal::Found after = found(*one);
  CHECK(after.left.empty());
  REQUIRE(after.warnings.size() == 1);
  CHECK(contains(after.warnings[0], "cannot be used: "));
  CHECK(contains(after.warnings[0], "; set aside as '" + journal_path(directory)));
  CHECK(contains(one->problem(), "was set aside, and with it perhaps what knobs had before"));
  CHECK_FALSE(keep(*one, {quota("be")}));
  CHECK_FALSE(one->prepare());

  one.reset();
  const auto next = journal();  // a second start does not change that
  CHECK(found(*next).warnings.empty());
  CHECK_FALSE(keep(*next, {quota("be")}));
  std::filesystem::remove(*journal_set_aside(directory));
  CHECK(keep(*next, {quota("be")}));
  CHECK(next->problem() == "");
}

TEST_CASE_FIXTURE(JournalFixture, "starts that end before the earlier originals are settled are counted") {
  keep({quota("be")});
  CHECK(found().unsettled_starts == 1);
  CHECK(found().unsettled_starts == 2);
  auto one = journal();
  CHECK(found(*one).unsettled_starts == 3);
  one->settled();
  one.reset();
  CHECK(found().unsettled_starts == 1);
}

TEST_CASE_FIXTURE(JournalFixture, "an agent that leaves knobs on purpose informs the next start, and only that") {
  keep({quota("be")});
  auto one = journal();
  CHECK_FALSE(found(*one).on_purpose);
  one->leave();
  one.reset();
  const Journal::Found next = found();
  CHECK(next.on_purpose);
  CHECK(next.unsettled_starts == 0);
  CHECK_FALSE(found().on_purpose);
}

TEST_CASE_FIXTURE(JournalFixture, "the file's log is taken into the file while it is in use") {
  const auto one = journal();
  found(*one);
  std::vector<Original> many;
  for (int i = 0; i < 1000; ++i) many.push_back(quota("be/pod" + std::to_string(i)));
  const auto log_bytes = [&] { return std::filesystem::file_size(journal_path(directory) + "-wal"); };
  REQUIRE(keep(*one, many));
  for (int i = 0; i < 200; ++i) {
    for (const Original& knob : many) one->wrote(knob.key, {"20000", "100000"});
    one->flush();
    one->tidy();
  }
  CHECK(log_bytes() < 8u << 20);
  CHECK(std::filesystem::file_size(journal_path(directory)) > 100'000);
}
