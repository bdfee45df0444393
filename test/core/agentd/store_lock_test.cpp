// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/store_lock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::agentd;

TEST_CASE("a metric cache belongs to one agent") {
  const test::FakeNode folder;
  const std::string path = folder.path("run/metrics.db");
  Result<UniqueFd> first = lock_store(path);
  REQUIRE(first);
  const Result<UniqueFd> second = lock_store(path);
  REQUIRE_FALSE(second);
  CHECK(second.error().message().find("'" + path + "' belongs to another agent that runs") != std::string::npos);
}

TEST_CASE("an agent waits for a process that is about to end") {
  const test::FakeNode folder;
  const std::string path = folder.path("run/metrics.db");
  Result<UniqueFd> first = lock_store(path);
  REQUIRE(first);
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // simulates the time that the process needs to end
    *first = UniqueFd();
  });
  CHECK(lock_store(path));
  ending.join();
}

TEST_CASE("a cache in memory needs no lock") { CHECK_FALSE(*lock_store("")); }
