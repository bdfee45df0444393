// SPDX-License-Identifier: Apache-2.0
// StoreFeed: carries what the metric registry hears into the metric cache, and knows which of the cache's rows
// belong to a living series. It is the registry's one observer and outlives it; the lock order is registry, feed,
// store. [any thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/log/rate_limit.hpp"
#include "core/metric/series_observer.hpp"
#include "core/store/store.hpp"

namespace koord::service {

class StoreFeed final : public metric::SeriesObserver {
 public:
  explicit StoreFeed(store::Store& store) : store_(store) {}

  void on_begin(std::uint32_t index, const metric::SeriesView& series) override;
  void on_end(std::uint32_t index) override;
  void on_points(Time time, std::span<const metric::Point> points) override;

  store::Store& store() const { return store_; }

  struct LiveSeries {
    std::uint64_t subject = 0;
    metric::SeriesId series = 0;  // 0: no living series
  };
  // The series behind a tag that a query of the cache gave; none when it ended since.
  LiveSeries find(std::uint64_t tag) const;

  // Batches that the cache refused, most likely because they were older than what it has; and series. The log names the
  // metric of a refused batch, in one line a minute.
  std::uint64_t refused_batches() const { return refused_batches_.load(std::memory_order_relaxed); }
  std::uint64_t refused_series() const { return refused_series_.load(std::memory_order_relaxed); }

 private:
  store::Store& store_;
  // Called with the registry's lock held, so by one thread at a time; kept for its memory.
  std::vector<store::Sample> samples_;
  log::RateLimit refusal_lines_{1, std::chrono::minutes(1)};
  std::atomic<std::uint64_t> refused_batches_ = 0;
  std::atomic<std::uint64_t> refused_series_ = 0;

  mutable std::mutex mutex_;
  std::vector<LiveSeries> live_;  // by index
};

}  // namespace koord::service
