// SPDX-License-Identifier: Apache-2.0
// A lane: one metric's time column and its series' values, the last rows of them in memory: at least five minutes, or
// max_rows. A row is one time; a series that has no value in it is kMissing there. Series stand in groups of up to 32,
// which are sealed, one chunk each, at different rows, so that the work is spread. Part of State and guarded by its
// mutex.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/store/catalogue.hpp"
#include "core/store/chunk.hpp"

namespace koord::store {

class Lane;

// The number of a row of a lane. One row a second needs 136 years to exceed it.
using Row = std::uint32_t;

// The values of one live series in a ring: row r is at r % ring_rows. Rows from next_row on are missing. Many series
// never change: as long as all values from first_row on are the same, there is no ring. Most others change little:
// their ring has 4 bytes for each value, the difference to `base`. One cache line, since there is one for each series
// and an append touches it.
struct alignas(64) Column {
  std::unique_ptr<std::int32_t[]> ring;  // null: all are `base`
  std::int64_t base = 0;
  Lane* lane = nullptr;
  std::int64_t journal_value = 0;  // the journal's last entry for it, when its epoch is journal_epoch
  std::uint64_t tag = 0;
  std::uint32_t journal_epoch = 0;
  SeriesId id = 0;  // 0: not in use
  Row first_row = 0;
  Row next_row = 0;
  std::uint32_t group = 0;  // its position in the lane
  bool ended = false;
  bool is_wide = false;  // the ring has the values themselves, 8 bytes each

  bool in_use() const { return id != 0; }
  const std::int32_t* place(std::size_t position) const { return &ring[is_wide ? 2 * position : position]; }
  std::int64_t value(std::size_t position) const;
  // False, and nothing is changed: the value is too far from `base`.
  bool put(std::size_t position, std::int64_t value);
};
static_assert(sizeof(Column) == 64);

struct Group {
  std::array<Column, kGroupSeries> columns;
  std::uint32_t position = 0;  // in the lane
  std::uint32_t used = 0;
  Row sealed_row = 0;  // rows before it are sealed
  Row due_row = 0;     // seal when the lane has this many rows
};

class Lane {
 public:
  // `newest_ms`: the newest sample of the metric in the file; no older row is begun.
  Lane(MetricId metric, double resolution, std::uint32_t max_rows, std::int64_t newest_ms);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  MetricId metric() const { return metric_; }
  void set_metric(MetricId metric) { metric_ = metric; }
  std::int64_t newest_ms() const { return newest_ms_; }
  bool has_rows() const { return rows_ > 0; }
  double per_unit() const { return per_unit_; }  // 1 / resolution

  Column& add(SeriesId id);
  // Frees the columns that have ended and have no unsealed row, and says which.
  std::vector<SeriesId> release_ended(Group& group);

  // Begins a row at a time after newest_ms().
  void begin_row(std::int64_t time_ms);
  // Sets the value in the newest row.
  void set(Column& column, std::int64_t value) {
    if (!(column.next_row == rows_ && column.ring) && !make_place(column, value)) return;
    if (!column.put(position_, value)) [[unlikely]]
      put_far(column, value);
  }

  // Where set() will write in the newest row or the one after: for prefetching.
  const std::int32_t* near_newest(const Column& column) const {
    return column.ring ? column.place(position_) : nullptr;
  }

  // The part of a column that is in memory: the rows with times in [from, to].
  struct Rows {
    Row begin = 0, end = 0;
    std::size_t count() const { return end - begin; }
  };
  Rows rows_between(const Column& column, std::int64_t from_ms, std::int64_t to_ms) const;
  // Calls visit(time_ms, value) for each, kMissing for no value.
  template <typename Visit>
  void each(const Column& column, Rows rows, Visit visit) const;
  // Samples before it are not in memory.
  std::int64_t memory_from_ms(const Column& column) const;

  // Sealing.
  std::span<const std::unique_ptr<Group>> groups() const { return groups_; }
  Group& group_of(const Column& column) const { return *groups_[column.group]; }
  bool due(const Group& group, std::int64_t now_ms) const;
  std::optional<std::int64_t> oldest_unsealed_ms(const Group& group) const;
  // Copies the unsealed rows out and counts them as sealed; adds the samples that left the ring unsealed to `lost`.
  // The newest row is left out when it is after `until_ms`: it may still get values.
  ChunkRows seal(Group& group, std::int64_t until_ms, std::uint64_t& lost);

 private:
  Row newest_row() const { return rows_ > 0 ? rows_ - 1 : 0; }
  Row oldest_row() const { return rows_ > ring_rows_ ? rows_ - ring_rows_ : 0; }
  std::int64_t time_of(Row row) const { return times_[row % ring_rows_]; }
  Row first_row_from(std::int64_t time_ms, Row low, Row high) const;
  bool needs_more_rows(std::int64_t next_ms) const;
  void grow();
  // False: the column has no ring and needs none for this value, which is set.
  bool make_place(Column& column, std::int64_t value);
  void make_ring(Column& column) const;
  // Puts a value into the newest row that is too far from `base` for 4 bytes.
  void put_far(Column& column, std::int64_t value) const;
  // Makes a ring of 4 bytes for each value if these are near each other.
  void narrow(Column& column) const;
  void rebuild(Column& column, std::int64_t base, bool is_wide) const;
  std::int64_t value_of(const Column& column, Row row) const {
    return column.ring ? column.value(row % ring_rows_) : column.base;
  }
  Group& group_with_room();

  MetricId metric_;
  double per_unit_;
  std::uint32_t max_rows_;
  std::uint32_t ring_rows_;
  std::int64_t newest_ms_;
  Row rows_ = 0;  // begun so far
  std::size_t position_ = 0;
  std::vector<std::int64_t> times_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::uint32_t roomy_ = 0;  // no group before it has room
};

inline constexpr std::int32_t kMissingDifference = std::numeric_limits<std::int32_t>::min();

inline std::int64_t Column::value(std::size_t position) const {
  std::int64_t value;
  if (is_wide) {
    std::memcpy(&value, place(position), sizeof value);
    return value;
  }
  const std::int32_t difference = ring[position];
  return difference == kMissingDifference ? kMissing : base + difference;
}

inline bool Column::put(std::size_t position, std::int64_t value) {
  if (is_wide) {
    std::memcpy(&ring[2 * position], &value, sizeof value);
    return true;
  }
  if (value == kMissing) {
    ring[position] = kMissingDifference;
    return true;
  }
  // Values are below 2^61, so this does not overflow.
  const std::int64_t difference = value - base;
  if (std::abs(difference) > std::numeric_limits<std::int32_t>::max()) return false;
  ring[position] = static_cast<std::int32_t>(difference);
  return true;
}

template <typename Visit>
void Lane::each(const Column& column, Rows rows, Visit visit) const {
  std::size_t position = rows.begin % ring_rows_;
  for (Row row = rows.begin; row < rows.end; ++row) {
    visit(times_[position], column.ring ? column.value(position) : column.base);
    if (++position == ring_rows_) position = 0;
  }
}

}  // namespace koord::store
