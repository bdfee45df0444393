// SPDX-License-Identifier: Apache-2.0
// Hostile plugins in the real agent on this kernel, together with well-behaved plugins.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "test/hostile/promise.hpp"
#include "test/hostile/raid.hpp"

using namespace koord::hostile;

namespace {

Rights rights_wanted() {
  const char* name = std::getenv("KOORD_HOSTILE_RIGHTS");
  return rights_of(name ? name : "");
}

void raid_and_check(const std::vector<const Attack*>& attacks) {
  static const bool is_guarded = (start_guard(), true);
  REQUIRE(is_guarded);
  for (const Verdict& verdict : run_raid(attacks, rights_wanted())) {
    MESSAGE(verdict.attack, ": ", verdict.note);
    for (const std::string& complaint : verdict.complaints) {
      INFO(verdict.attack);
      CHECK_MESSAGE(complaint.empty(), complaint);
    }
  }
}

void raid_batch(Batch batch) {
  std::vector<const Attack*> all;
  for (const Attack& attack : attacks())
    if (attack.batch == batch && !attack.open) all.push_back(&attack);
  for (const auto& group : groups_of(all, group_size(batch))) raid_and_check(group);
}

// Returns whether the defence against this flood (memory, pipes, processes) depends on the agent's rights. On cgroup v1
// an agent without CAP_DAC_OVERRIDE makes no cgroups, and only RLIMIT_NPROC limits the bombs.
bool depends_on_rights(const Attack& attack) {
  for (const char* name : {"messages", "stdout_flood", "fork_bomb", "thread_bomb"})
    if (attack.name == name) return true;
  return false;
}

}  // namespace

TEST_CASE("README.md shows the table of attacks") {
  const std::string readme = koord::read_file(KOORD_HOSTILE_README).value_or("");
  CHECK_MESSAGE(readme.find(table()) != std::string::npos, "expected what hostile-raids --table prints");
}

TEST_CASE("the promise: a gap beyond 1.5 s is complained of, unless a control was late at the same time") {
  CHECK(complaint_about_gaps("x", {10, 10.1, 11.6}, {10, 10.1, 10.2, 11.6}).empty());
  CHECK(complaint_about_gaps("x", {10, 11.7}, {10, 10.1, 10.2, 10.3}) ==
        "x has a gap of 1.70 s, a control in the same time a delay of 0.00 s");
  CHECK(complaint_about_gaps("x", {10, 11.7}, {9, 9.5, 10.1, 10.2}).empty());      // the control was 0.5 s late
  CHECK_FALSE(complaint_about_gaps("x", {10, 13}, {9, 9.5, 10.1, 10.2}).empty());  // but not this late
  CHECK_FALSE(complaint_about_gaps("x", {10, 13}, {14, 17}).empty());              // nor at this time
}

TEST_CASE("the promise: the agent charges what it spends, within a fifth, neither less nor more") {
  CHECK(complaint_about_charge(1, 0.85, 1).empty());
  CHECK(complaint_about_charge(1, 1.15, 1).empty());
  CHECK_FALSE(complaint_about_charge(1, 0.7, 1).empty());
  CHECK_FALSE(complaint_about_charge(1, 1.3, 1).empty());
  CHECK(complaint_about_charge(0, 0.02, 1).empty());
  CHECK_FALSE(complaint_about_charge(0, 0.1, 1).empty());
}

TEST_CASE("the promise: the agent grows by 8 MiB at most") {
  CHECK(complaint_about_growth(8192).empty());
  CHECK(complaint_about_growth(8193) == "the agent grew by 8.00 MiB");
}

TEST_CASE("the promise: a bomb makes at most 64 processes or threads") {
  CHECK(complaint_about_bomb(" made=64").empty());
  CHECK(complaint_about_bomb(" made=65") == "it made 65 processes or threads");
  CHECK(complaint_about_bomb(" made=0") == "it made 0 processes or threads");
  CHECK_FALSE(complaint_about_bomb("").empty());
}

TEST_CASE("calls that could change the node or other processes are refused") { raid_batch(Batch::quiet); }

TEST_CASE("calls that could stop the agent or other plugins are refused") { raid_batch(Batch::alone); }

TEST_CASE("a plugin that keeps the agent busy harms itself alone") { raid_batch(Batch::flood); }

TEST_CASE("floods that fewer rights of the agent could let through harm the plugin alone") {
  for (const Attack& attack : attacks())
    if (depends_on_rights(attack)) raid_and_check({&attack});
}

TEST_CASE("a plugin that ends, hangs or breaks its channels is ended with all that it started") {
  raid_batch(Batch::end);
}

TEST_CASE("files, modules and schemas that lie are refused") { raid_batch(Batch::lie); }
