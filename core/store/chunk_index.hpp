// SPDX-License-Identifier: Apache-2.0
// The places of the chunks in the file: a few words per chunk (4 KiB in the file), by metric, in the order of their row
// ids. That is about the order of time. Part of State and guarded by its mutex.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/store/catalogue.hpp"

namespace koord::store {

struct ChunkRef {
  std::int64_t rowid = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  SeriesId lowest = 0;  // the series are between these, not necessarily all of them
  SeriesId highest = 0;

  bool overlaps(std::int64_t from_ms, std::int64_t to_ms) const { return first_ms <= to_ms && last_ms >= from_ms; }
  bool may_hold(SeriesId id) const { return lowest <= id && id <= highest; }
};

class ChunkIndex {
 public:
  void add(MetricId metric, const ChunkRef& chunk);
  void clear();
  // Forgets the chunks with row ids up to this one.
  void cut(std::int64_t rowid);

  // Returns the metric's chunks with a sample between the times, perhaps of a series between the two.
  std::vector<ChunkRef> find(MetricId metric, SeriesId lowest, SeriesId highest, std::int64_t from_ms,
                             std::int64_t to_ms) const;
  std::size_t size() const { return size_; }
  std::optional<std::int64_t> newest_ms(MetricId metric) const;
  std::optional<std::int64_t> newest_ms() const;
  std::optional<std::int64_t> oldest_ms() const;

 private:
  struct Chunks {
    std::deque<ChunkRef> refs;
    std::int64_t newest_ms = 0;  // also of chunks that were cut
  };
  std::unordered_map<MetricId, Chunks> metrics_;
  std::size_t size_ = 0;
};

}  // namespace koord::store
