// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "core/verdict/store.hpp"
#include "test/core/verdict/records.hpp"

using namespace koord;
using namespace koord::test;
using namespace koord::verdict;

TEST_CASE("verdicts are posted, ended and read by several threads at once") {
  Store store;
  std::atomic<std::uint64_t> changes = 0;
  store.subscribe([&](std::uint64_t) { ++changes; });
  constexpr int kRounds = 200;
  std::vector<std::thread> threads;
  for (const char* plugin : {"a", "b"}) {
    threads.emplace_back([&store, plugin] {
      for (int i = 0; i < kRounds; ++i) {
        CHECK(store.post(Time(), {plugin, Origin::own, 1}, {verdict_about(1), verdict_about(2)}));
        CHECK(store.end(Time(), plugin, verdict_about(1).key(), "over"));
      }
    });
  }
  threads.emplace_back([&store] {
    for (int i = 0; i < kRounds; ++i) {
      CHECK(store.standing()->records.size() <= 4);
      CHECK(store.history({.most = 10}).size() <= 10);
    }
  });
  for (std::thread& thread : threads) thread.join();
  CHECK(store.standing()->records.size() == 2);
  CHECK(store.generation() == 1 + changes.load());
}
