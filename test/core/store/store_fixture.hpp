// SPDX-License-Identifier: Apache-2.0
// A store with a fake clock, and helper functions.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/store/store.hpp"
#include "test/core/store/temporary_directory.hpp"

namespace koord::test {

using namespace koord::store;
using namespace std::chrono_literals;

struct StoreFixture {
  TemporaryDirectory directory;
  ManualClock clock;
  Options options;
  std::unique_ptr<Store> store;

  StoreFixture() {
    options.path = directory / "metrics.db";
    options.journal_period = 1h;  // the tests call flush
    reopen();
  }
  void reopen() {
    store.reset();
    Result<std::unique_ptr<Store>> opened = Store::open(options, clock);
    REQUIRE(opened);
    store = std::move(*opened);
  }
  void begin(std::uint32_t index, const std::string& metric, const Labels& labels = {}, double resolution = 1) {
    Result<void> begun = store->begin_series(index, {metric, "1", resolution, labels});
    REQUIRE_MESSAGE(begun, begun.error().message());
  }
  void append(std::uint32_t index, double value) {
    Sample sample{index, value};
    Result<void> done = store->append(clock.now(), {&sample, 1});
    REQUIRE_MESSAGE(done, done.error().message());
  }
  // Appends one value per second, starting with `first`.
  void append_seconds(std::uint32_t index, int count, int first = 0) {
    for (int i = 0; i < count; ++i) {
      append(index, first + i);
      clock.advance(1s);
      if (i % 50 == 49) store->flush();
    }
  }
  Query all(const std::string& metric, Labels match = {}) const {
    return {metric, std::move(match), from_ns(1), clock.now() + 1h};
  }
  std::vector<double> values(const std::string& metric, Labels match = {}) const {
    std::vector<double> found;
    for (const SeriesSamples& series : store->samples(all(metric, std::move(match))))
      for (const TimedValue& sample : series.samples) found.push_back(sample.value);
    return found;
  }
};

inline std::vector<double> counting(int count, int first = 0) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

}  // namespace koord::test
