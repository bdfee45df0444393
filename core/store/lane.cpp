// SPDX-License-Identifier: Apache-2.0
#include "core/store/lane.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace koord::store {
namespace {

// Groups of slow metrics are sealed after this time, because the journal must reach back to the oldest unsealed row.
constexpr std::int64_t kMaxUnsealedMs = 240'000;
// A ring starts small, and doubles while it covers less than this time. So a slow metric needs little memory. The time
// is longer than kMaxUnsealedMs, so no unsealed row is overwritten.
constexpr std::uint32_t kFirstRows = 8;
constexpr std::int64_t kMemorySpanMs = 300'000;
// Coprime to kChunkRows, so the first seals of 120 groups are at 120 different rows.
constexpr std::uint64_t kStagger = 53;

std::size_t words_of(bool is_wide) { return is_wide ? 2 : 1; }

std::vector<const Column*> columns_with_rows(const Group& group, Row from_row) {
  std::vector<const Column*> columns;
  for (const Column& column : group.columns)
    if (column.in_use() && column.next_row > from_row) columns.push_back(&column);
  std::sort(columns.begin(), columns.end(), [](auto* a, auto* b) { return a->id < b->id; });
  return columns;
}

}  // namespace

Lane::Lane(MetricId metric, double resolution, std::uint32_t max_rows, std::int64_t newest_ms)
    : metric_(metric),
      per_unit_(1 / resolution),
      max_rows_(max_rows),
      ring_rows_(std::min(kFirstRows, max_rows)),
      newest_ms_(newest_ms),
      times_(ring_rows_) {}

Group& Lane::group_with_room() {
  while (roomy_ < groups_.size() && groups_[roomy_]->used == kGroupSeries) ++roomy_;
  if (roomy_ < groups_.size()) return *groups_[roomy_];
  groups_.push_back(std::make_unique<Group>());
  Group& group = *groups_.back();
  group.position = roomy_;
  group.sealed_row = newest_row();
  group.due_row = rows_ + 1 + static_cast<Row>((metric_ * 7 + roomy_) * kStagger % kChunkRows);
  return group;
}

Column& Lane::add(SeriesId id) {
  Group& group = group_with_room();
  auto is_free = [](const Column& each) { return !each.in_use(); };
  Column& column = *std::find_if(group.columns.begin(), group.columns.end(), is_free);
  ++group.used;
  column.lane = this;
  // A new series may use the newest row, unless its group has sealed that row.
  column.first_row = column.next_row = std::max(newest_row(), group.sealed_row);
  column.id = id;
  column.group = group.position;
  return column;
}

std::vector<SeriesId> Lane::release_ended(Group& group) {
  std::vector<SeriesId> released;
  for (Column& column : group.columns) {
    if (!column.in_use() || !column.ended || column.next_row > group.sealed_row) continue;
    released.push_back(column.id);
    column = Column();
    --group.used;
    roomy_ = std::min(roomy_, group.position);
  }
  return released;
}

bool Lane::needs_more_rows(std::int64_t next_ms) const {
  return ring_rows_ < max_rows_ && rows_ >= ring_rows_ && time_of(oldest_row()) > next_ms - kMemorySpanMs;
}

void Lane::grow() {
  std::uint32_t more = std::min(2 * ring_rows_, max_rows_);
  std::vector<std::int64_t> times(more);
  for (Row row = oldest_row(); row < rows_; ++row) times[row % more] = time_of(row);
  for (auto& group : groups_) {
    for (Column& column : group->columns) {
      if (!column.ring) continue;
      const std::size_t words = words_of(column.is_wide);
      auto ring = std::make_unique_for_overwrite<std::int32_t[]>(words * more);
      for (Row row = std::max(column.first_row, oldest_row()); row < column.next_row; ++row)
        std::copy_n(column.place(row % ring_rows_), words, &ring[words * (row % more)]);
      column.ring = std::move(ring);
    }
  }
  times_ = std::move(times);
  ring_rows_ = more;
}

void Lane::begin_row(std::int64_t time_ms) {
  if (needs_more_rows(time_ms)) grow();
  newest_ms_ = time_ms;
  position_ = rows_ % ring_rows_;
  times_[position_] = time_ms;
  ++rows_;
}

bool Lane::make_place(Column& column, std::int64_t value) {
  if (!column.ring) {
    if (column.next_row == column.first_row) {
      column.first_row = column.next_row = std::max(column.first_row, rows_ - 1);
      column.base = value;
    }
    const bool without_gap = column.next_row + 1 >= rows_;
    if (value == column.base && without_gap) {
      column.next_row = rows_;
      return false;
    }
    make_ring(column);
  }
  for (Row row = std::max(column.next_row, oldest_row()); row + 1 < rows_; ++row)
    column.put(row % ring_rows_, kMissing);
  column.next_row = rows_;
  return true;
}

void Lane::make_ring(Column& column) const {
  column.is_wide = false;
  column.ring = std::make_unique_for_overwrite<std::int32_t[]>(ring_rows_);
  for (Row row = std::max(column.first_row, oldest_row()); row < column.next_row; ++row)
    column.put(row % ring_rows_, column.base);
}

void Lane::rebuild(Column& column, std::int64_t base, bool is_wide) const {
  Column old;
  old.ring = std::exchange(column.ring, std::make_unique_for_overwrite<std::int32_t[]>(words_of(is_wide) * ring_rows_));
  old.base = std::exchange(column.base, base);
  old.is_wide = std::exchange(column.is_wide, is_wide);
  for (Row row = std::max(column.first_row, oldest_row()); row < column.next_row; ++row)
    column.put(row % ring_rows_, old.value(row % ring_rows_));
}

void Lane::put_far(Column& column, std::int64_t value) const {
  column.next_row = newest_row();  // this row has no value so far
  rebuild(column, column.base, true);
  column.next_row = rows_;
  column.put(position_, value);
  narrow(column);
}

void Lane::narrow(Column& column) const {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = kMissing;
  for (Row row = std::max(column.first_row, oldest_row()); row < column.next_row; ++row) {
    const std::int64_t value = column.value(row % ring_rows_);
    if (value != kMissing) lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  if (highest == kMissing) return;
  const std::int64_t middle = lowest + (highest - lowest) / 2;
  if (highest - middle <= std::numeric_limits<std::int32_t>::max()) rebuild(column, middle, false);
}

Row Lane::first_row_from(std::int64_t time_ms, Row low, Row high) const {
  while (low < high) {
    Row middle = low + (high - low) / 2;
    if (time_of(middle) < time_ms) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Lane::Rows Lane::rows_between(const Column& column, std::int64_t from_ms, std::int64_t to_ms) const {
  Row begin = std::max(column.first_row, oldest_row());
  const Row end = column.next_row;
  if (begin >= end) return {};
  begin = first_row_from(from_ms, begin, end);
  return {begin, to_ms >= newest_ms_ ? end : first_row_from(to_ms + 1, begin, end)};
}

std::int64_t Lane::memory_from_ms(const Column& column) const {
  Row row = std::max(column.first_row, oldest_row());
  return row < rows_ ? time_of(row) : newest_ms_ + 1;
}

bool Lane::due(const Group& group, std::int64_t now_ms) const {
  if (rows_ > group.due_row) return true;
  std::optional<std::int64_t> oldest = oldest_unsealed_ms(group);
  return oldest && *oldest <= now_ms - kMaxUnsealedMs;
}

std::optional<std::int64_t> Lane::oldest_unsealed_ms(const Group& group) const {
  Row row = std::max(group.sealed_row, oldest_row());
  if (group.used == 0 || row >= rows_) return std::nullopt;
  return time_of(row);
}

ChunkRows Lane::seal(Group& group, std::int64_t until_ms, std::uint64_t& lost) {
  Row begin = std::max(group.sealed_row, oldest_row());
  Row end = newest_ms_ <= until_ms ? rows_ : newest_row();
  lost += std::uint64_t{begin - group.sealed_row} * group.used;
  while (group.due_row < rows_) group.due_row += kChunkRows;
  ChunkRows rows;
  if (begin >= end) return rows;
  for (Row row = begin; row < end; ++row) rows.times_ms.push_back(time_of(row));
  for (const Column* column : columns_with_rows(group, begin)) {
    std::vector<std::int64_t>& values = rows.values.emplace_back(rows.times_ms.size(), kMissing);
    for (Row row = std::max(begin, column->first_row); row < std::min(end, column->next_row); ++row)
      values[row - begin] = value_of(*column, row);
    rows.series.push_back(column->id);
  }
  for (Column& column : group.columns) {
    column.journal_epoch = 0;
    if (column.is_wide) narrow(column);
  }
  group.sealed_row = end;
  return rows;
}

}  // namespace koord::store
