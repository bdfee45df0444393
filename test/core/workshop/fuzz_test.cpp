// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/fuzz.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "core/workshop/check/garble.hpp"

using namespace koord;
using namespace koord::check;

namespace {

constexpr std::uint64_t kEnough = 500;  // enough sessions to change one of hundreds of files

std::optional<FuzzFinding> fuzz(const char* plugin, std::uint64_t seed, std::uint64_t sessions) {
  auto found = fuzz_plugin(std::getenv(plugin), {.seed = seed, .sessions = sessions}, [](std::uint64_t) {});
  REQUIRE_MESSAGE(found, found.error().message());
  return *found;
}

}  // namespace

TEST_CASE("a plugin that checks what it reads has no finding") {
  const auto finding = fuzz("KOORD_GAUGE", 1, 40);
  CHECK_MESSAGE(!finding, finding->detail);
}

TEST_CASE("a plugin that does not check what it reads has a finding, and the seed finds it again") {
  const auto finding = fuzz("KOORD_FRAGILE", 1, kEnough);
  REQUIRE(finding);
  CHECK_MESSAGE(finding->detail.find("signal 6 (Aborted) in collect() of class 'fragile', step ") != std::string::npos,
                finding->detail);
  const auto again = fuzz("KOORD_FRAGILE", finding->seed, 1);
  REQUIRE(again);
  CHECK(again->detail == finding->detail);
}

TEST_CASE("garbling depends only on the seed, and makes every kind of error") {
  const std::string content = "first 1\nsecond 22\nthird 333\n";
  RandomSource one(7), same(7);
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string garbled = garble(one, content);
    CHECK(garble(same, content) == garbled);
    seen.insert(garbled);
  }
  for (const char* expected : {"", "first 1\nthird 333\n", "first 1\nsecond max\nthird 333\n"})
    CHECK(seen.contains(expected));
  CHECK(seen.contains(content + content));
}

TEST_CASE("garbled pods keep the host's promise that every uid is unique") {
  RandomSource random(1);
  for (int i = 0; i < 50; ++i) {
    std::set<std::string> uids;
    for (const state::Pod& pod : garbled_pods(random, {"kubepods"})) {
      CHECK(!pod.uid.empty());
      CHECK(uids.insert(pod.uid).second);
    }
  }
}
