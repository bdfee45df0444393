// SPDX-License-Identifier: Apache-2.0
// hostile-raids --table: prints the table for README.md.
// hostile-raids [--together] [ATTACK…]: runs these attacks, or all, and prints a line for each verdict. Each attack
// gets its own agent; with --together, attacks of a batch share an agent as in the test. Attacks marked OPEN are always
// alone.
// KOORD_HOSTILE_RIGHTS: root, unit, chart, without-landlock or without-setuid.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "test/hostile/raid.hpp"

using namespace koord::hostile;

namespace {

// Returns the number of attacks that succeeded.
int run_and_print(const std::vector<const Attack*>& attacks, Rights rights) {
  int bad = 0;
  for (const Verdict& verdict : run_raid(attacks, rights)) {
    std::string all;
    for (const std::string& complaint : verdict.complaints) all += (all.empty() ? "" : "; ") + complaint;
    const char* color = verdict.complaints.empty() ? "green" : "RED  ";
    std::printf("%s %s: %s [%s]\n", color, verdict.attack.c_str(), all.c_str(), verdict.note.c_str());
    std::fflush(stdout);
    bad += !verdict.complaints.empty();
  }
  return bad;
}

bool is_wanted(const Attack& attack, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  for (const std::string& name : names)
    if (name == attack.name) return true;
  return false;
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> names(words + 1, words + count);
  if (!names.empty() && names.front() == "--table") return std::fputs(table().c_str(), stdout) < 0;
  const bool together = !names.empty() && names.front() == "--together";
  if (together) names.erase(names.begin());
  const char* rights = std::getenv("KOORD_HOSTILE_RIGHTS");
  const Rights mode = rights_of(rights ? rights : "");
  // Needed because shared test helpers use assertions outside of test cases.
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  start_guard();
  int bad = 0;
  for (const Batch batch : {Batch::quiet, Batch::lie, Batch::alone, Batch::end, Batch::flood})
    for (const bool open : {false, true}) {
      std::vector<const Attack*> wanted;
      for (const Attack& attack : attacks())
        if (attack.batch == batch && attack.open == open && is_wanted(attack, names)) wanted.push_back(&attack);
      for (const auto& group : groups_of(wanted, together && !open ? group_size(batch) : 1))
        bad += run_and_print(group, mode);
    }
  return bad > 0;
}
