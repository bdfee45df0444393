// SPDX-License-Identifier: Apache-2.0
#include "core/decision/decision_archive.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/base/manual_clock.hpp"
#include "core/decision/decision_file.hpp"
#include "core/decision/decision_log.hpp"
#include "core/sqlite/connection.hpp"
#include "test/support/eventually.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::decision;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

Decision decision(std::uint64_t number) {
  Decision made;
  made.number = number;
  made.time = Time(Duration(number));
  made.wall_ns = static_cast<std::int64_t>(number) * 1'000'000'000;
  made.kind = number % 7 == 0 ? DecisionKind::eviction : DecisionKind::knob;
  made.plugin = number % 2 == 0 ? "burst" : "suppress";
  made.strategy = "main";
  made.cgroup_dir = "kube/pod" + std::to_string(number % 4) + "/app";
  made.knob = number % 3 == 0 ? "cpu.max" : "memory.high";
  made.pod_uid = "uid-" + std::to_string(number % 4);
  made.pod_namespace = "shop";
  made.pod_name = "web-" + std::to_string(number % 4);
  made.container = "app";
  made.level = Level::container;
  made.priority = -7;
  made.reason = "the node is busy";
  made.inputs = {{"usage", "7.3"}, {"empty", ""}};
  made.before = "max 100000";
  made.wanted = made.after = "20000 100000";
  made.outcome = number % 5 == 0 ? Outcome::lost : Outcome::applied;
  made.winner = "suppress";
  made.problem = number % 5 == 0 ? "it's another's" : "";
  made.role = Role::scale;
  made.composition = "cpu.max 20000 100000 = base 10000 (limit 100m) × 2 (burst), no cap";
  return made;
}

struct ArchiveFixture {
  test::FakeNode node;
  ManualClock clock;
  std::string path = node.path("qos/decisions.db");
  std::uint64_t max_bytes = 1u << 20;

  // The periodic write comes after an hour, so only the test starts writes.
  std::unique_ptr<DecisionArchive> archive() {
    return std::make_unique<DecisionArchive>(DecisionArchive::Options{path, max_bytes, 1h, 1h}, clock);
  }
  void fill(std::uint64_t from, std::uint64_t to) {
    auto file = archive();
    for (std::uint64_t i = from; i <= to; ++i) file->add(decision(i));
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t bytes = 0;
    for (const auto& file : fs::directory_iterator(fs::path(path).parent_path())) bytes += file.file_size();
    return bytes;
  }
};

std::vector<std::uint64_t> numbers(const DecisionPage& page) {
  std::vector<std::uint64_t> list;
  for (const Decision& one : page.decisions) list.push_back(one.number);
  return list;
}

}  // namespace

TEST_CASE_FIXTURE(ArchiveFixture, "decisions are on disk at the next start, every field of them") {
  fill(1, 20);
  const auto again = archive();
  CHECK(again->last_number() == 20);
  const DecisionPage page = *again->find({});
  REQUIRE(page.decisions.size() == 20);
  for (std::uint64_t i = 1; i <= 20; ++i) CHECK(page.decisions[i - 1] == decision(i));
}

TEST_CASE_FIXTURE(ArchiveFixture, "an archive without records makes no file") {
  CHECK(archive()->find({})->decisions.empty());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE_FIXTURE(ArchiveFixture, "records that wait to be written are found, too") {
  const auto file = archive();
  file->add(decision(1));
  CHECK(numbers(*file->find({})) == std::vector<std::uint64_t>{1});
}

TEST_CASE_FIXTURE(ArchiveFixture, "batches are written without being asked") {
  DecisionArchive file({path, max_bytes, 10ms, 10ms}, clock);
  file.add(decision(1));
  CHECK(test::eventually([&] { return file.status().bytes > 0; }));
}

TEST_CASE_FIXTURE(ArchiveFixture, "a page has the newest decisions, and states whether older ones exist") {
  fill(1, 25);
  const auto file = archive();
  DecisionQuery query;
  query.limit = 10;
  DecisionPage page = *file->find(query);
  CHECK(page.decisions.front().number == 16);
  CHECK(page.decisions.back().number == 25);
  CHECK(page.has_older);
  query.before = 6;
  page = *file->find(query);
  CHECK(numbers(page) == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  CHECK_FALSE(page.has_older);
}

TEST_CASE_FIXTURE(ArchiveFixture, "each question has the same answer from the disk and from memory") {
  fill(1, 60);
  const auto file = archive();
  DecisionLog log;
  for (std::uint64_t i = 1; i <= 60; ++i) log.add(decision(i));
  std::vector<DecisionQuery> queries(12);
  queries[1].pod = "uid-1";
  queries[2].pod = "web-2";
  queries[3].pod = "shop/web-3";
  queries[4].cgroup = "kube/pod1";
  queries[5].cgroup = "kube/pod";
  queries[6].knob = "cpu.max";
  queries[7].plugin = "burst";
  queries[8].outcome = Outcome::lost;
  queries[9].since_ns = 20'000'000'000;
  queries[9].until_ns = 30'000'000'000;
  queries[10].before = 31;
  queries[10].limit = 7;
  queries[11].kind = DecisionKind::eviction;
  const std::vector<std::size_t> wanted{60, 15, 15, 15, 15, 0, 20, 30, 12, 11, 7, 8};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    CAPTURE(i);
    const DecisionPage page = *file->find(queries[i]);
    CHECK(page.decisions.size() == wanted[i]);
    CHECK(page.decisions == log.find(queries[i]).decisions);
    CHECK(page.has_older == log.find(queries[i]).has_older);
  }
}

TEST_CASE_FIXTURE(ArchiveFixture, "the file and its log stay below their limit, and the oldest decisions are removed") {
  std::uint64_t largest = 0;
  auto file = archive();
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    file->add(decision(i));
    if (i % 1000 != 0) continue;
    REQUIRE(file->find({}));
    largest = std::max(largest, bytes_on_disk());
  }
  const std::vector<std::uint64_t> left = numbers(*file->find({}));
  CHECK(largest <= max_bytes);
  CHECK(largest > max_bytes / 2);
  CHECK(left.back() == 10'000);
  CHECK(left.front() > 1);
  CHECK(left.size() > 500);
}

TEST_CASE_FIXTURE(ArchiveFixture, "a file that may have less from now on is made smaller") {
  max_bytes = 1u << 20;
  fill(1, 2000);
  max_bytes = 256u << 10;
  REQUIRE(bytes_on_disk() > max_bytes);
  fill(2001, 2001);
  CHECK(bytes_on_disk() <= max_bytes);
}

TEST_CASE_FIXTURE(ArchiveFixture, "a damaged file is set aside, and a new one begun") {
  node.write("qos/decisions.db", std::string(8192, 'x'));
  const auto file = archive();
  file->add(decision(1));
  CHECK(numbers(*file->find({})) == std::vector<std::uint64_t>{1});
  CHECK(file->status().set_aside_note.find("set aside as '" + path + ".corrupt-") != std::string::npos);
}

TEST_CASE_FIXTURE(ArchiveFixture, "a file of another program or of a newer version is set aside") {
  for (const auto& row :
       {std::pair("PRAGMA application_id=7", "foreign"), {"PRAGMA user_version=99", "newer-version"}}) {
    CAPTURE(row.second);
    const auto& [statement, word] = row;
    fill(1, 1);
    REQUIRE(sqlite::Connection::open(path, sqlite::Connection::Access::read_write)->execute(statement));
    CHECK(archive()->status().set_aside_note.find(std::string(".") + word + "-") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(ArchiveFixture, "a file from before roles keeps its records, and takes new ones") {
  fill(1, 3);
  REQUIRE(
      sqlite::Connection::open(path, sqlite::Connection::Access::read_write)
          ->execute(
              "ALTER TABLE decision DROP COLUMN kind; ALTER TABLE decision DROP COLUMN composition; ALTER TABLE decision DROP COLUMN role; PRAGMA user_version=1"));
  const auto file = archive();
  file->add(decision(4));
  const DecisionPage page = *file->find({});
  CHECK(numbers(page) == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(page.decisions[0].role == Role::set);
  CHECK(page.decisions[0].composition.empty());
  CHECK(page.decisions[3] == decision(4));
  CHECK(file->status().set_aside_note.empty());
}

TEST_CASE_FIXTURE(ArchiveFixture, "a file from before kinds of decisions is found by kind") {
  fill(1, 3);
  REQUIRE(
      sqlite::Connection::open(path, sqlite::Connection::Access::read_write)
          ->execute(
              "UPDATE decision SET knob = 'eviction' WHERE number = 1; UPDATE decision SET knob = '', outcome = 'switched' WHERE number = 2;"
              "ALTER TABLE decision DROP COLUMN kind; PRAGMA user_version=2"));
  const auto file = archive();
  const auto of_kind = [&](DecisionKind kind) { return numbers(*file->find({.kind = kind})); };
  CHECK(of_kind(DecisionKind::eviction) == std::vector<std::uint64_t>{1});
  CHECK(of_kind(DecisionKind::mode) == std::vector<std::uint64_t>{2});
  CHECK(of_kind(DecisionKind::knob) == std::vector<std::uint64_t>{3});
  CHECK(file->find({.kind = DecisionKind::eviction})->decisions[0].knob.empty());
}

TEST_CASE_FIXTURE(
    ArchiveFixture,
    "while the disk accepts no writes the newest decisions wait, the reason is reported, and all are written later") {
  node.write("qos", "a file where the folder should be");
  auto file = archive();
  file->add(decision(1));
  CHECK_FALSE(file->find({}));
  CHECK(file->status().problem.find("decisions.db") != std::string::npos);
  for (std::uint64_t i = 2; i <= DecisionArchive::kMostWaiting + 3; ++i) file->add(decision(i));
  CHECK(file->status().dropped == 3);
  node.remove("qos");
  REQUIRE(file->find({}));
  CHECK(file->status().problem.empty());
  file.reset();
  CHECK(archive()->last_number() == DecisionArchive::kMostWaiting + 3);
}

TEST_CASE_FIXTURE(ArchiveFixture, "a log on disk continues its numbers, and answers from memory if the disk does not") {
  fill(1, 7);
  DecisionLog log;
  log.keep_in({path, max_bytes, 1h, 1h}, clock);
  log.add(decision(99));
  CHECK(log.decisions()[0].number == 8);
  CHECK(log.find({}).decisions.size() == 8);

  node.write("nowhere", "a file");
  DecisionLog without;
  without.keep_in({node.path("nowhere/decisions.db"), max_bytes, 1h, 1h}, clock);
  without.add(decision(1));
  CHECK(without.find({}).decisions.size() == 1);
  CHECK_FALSE(without.archive()->problem.empty());
}
