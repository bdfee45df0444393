// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;

TEST_CASE_FIXTURE(StoreFixture, "simultaneous appends, queries, churn and puts lose no data") {
  options.journal_period = 10ms;
  reopen();
  for (std::uint32_t i = 0; i < 64; ++i) begin(i, "cpu", {{"pod", std::to_string(i)}});
  std::atomic<bool> done = false;
  std::thread reader([&] {
    constexpr Aggregation kMax[] = {Aggregation::max, Aggregation::count};
    while (!done)
      for (const AggregateRow& row : store->aggregate(all("cpu"), kMax)) CHECK(row.values[0] + 1 == row.values[1]);
  });
  std::thread churner([&] {
    std::byte value[8] = {};
    for (std::uint32_t n = 0; !done; ++n) {
      begin(100, "mem", {{"pod", std::to_string(n % 50)}});
      append(100, n);
      CHECK(store->put("key", value));
      store->end_series(100);
      (void)store->stats();
    }
  });
  for (int row = 0; row < 900; ++row) {
    std::vector<Sample> batch;
    for (std::uint32_t i = 0; i < 64; ++i) batch.push_back({i, static_cast<double>(row)});
    CHECK(store->append(clock.now(), batch));
    clock.advance(1s);
    if (row % 40 == 0) store->flush();
  }
  done = true;
  reader.join();
  churner.join();
  for (std::uint32_t i : {0u, 31u, 63u}) CHECK(values("cpu", {{"pod", std::to_string(i)}}) == counting(900));
  CHECK(store->stats().dropped_samples == 0);
}
