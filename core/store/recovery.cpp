// SPDX-License-Identifier: Apache-2.0
#include "core/store/recovery.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/store/unsealed.hpp"

namespace koord::store {
namespace {

// The rows of one metric: its times, and the values of each series from its first row.
struct Recovered {
  struct Values {
    std::size_t first_row = 0;
    std::vector<std::int64_t> values;
  };
  std::vector<std::int64_t> times_ms;
  std::unordered_map<SeriesId, Values> series;

  void add(std::int64_t time_ms, SeriesId id, std::int64_t value) {
    if (!times_ms.empty() && time_ms < times_ms.back()) return;  // no lane appends a time before the newest
    if (times_ms.empty() || times_ms.back() != time_ms) times_ms.push_back(time_ms);
    std::size_t row = times_ms.size() - 1;
    Values& column = series.try_emplace(id, Values{row, {}}).first->second;
    column.values.resize(row - column.first_row, kMissing);
    column.values.push_back(value);
  }
};

// Returns the values of the series in the rows from `begin` to `end`.
std::vector<std::int64_t> slice(const Recovered::Values& column, std::size_t begin, std::size_t end) {
  std::vector<std::int64_t> values(end - begin, kMissing);
  std::size_t last = std::min(end, column.first_row + column.values.size());
  for (std::size_t row = std::max(begin, column.first_row); row < last; ++row)
    values[row - begin] = column.values[row - column.first_row];
  return values;
}

void seal(MetricId metric, const Recovered& rows, std::vector<SealedChunkPtr>& chunks) {
  std::vector<SeriesId> ids;
  for (const auto& each : rows.series) ids.push_back(each.first);
  std::sort(ids.begin(), ids.end());
  for (std::size_t begin = 0; begin < rows.times_ms.size(); begin += kChunkRows) {
    std::size_t end = std::min(begin + kChunkRows, rows.times_ms.size());
    for (std::size_t first = 0; first < ids.size(); first += kGroupSeries) {
      ChunkRows chunk;
      chunk.times_ms.assign(rows.times_ms.begin() + static_cast<std::ptrdiff_t>(begin),
                            rows.times_ms.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t i = first; i < std::min(first + kGroupSeries, ids.size()); ++i) {
        chunk.series.push_back(ids[i]);
        chunk.values.push_back(slice(rows.series.at(ids[i]), begin, end));
      }
      if (SealedChunkPtr sealed = make_sealed(metric, chunk)) chunks.push_back(std::move(sealed));
    }
  }
}

}  // namespace

Result<std::vector<SealedChunkPtr>> chunks_of_journal(sqlite::Connection& connection, const Catalogue& catalogue) {
  std::unordered_map<MetricId, Recovered> metrics;
  TRY(for_each_unsealed(connection, catalogue.largest_id(), [&](std::int64_t time_ms, SeriesId id, std::int64_t value) {
    if (const Identity* identity = catalogue.find(id)) metrics[identity->metric].add(time_ms, id, value);
  }));
  std::vector<SealedChunkPtr> chunks;
  for (const auto& [metric, rows] : metrics) seal(metric, rows, chunks);
  return chunks;
}

}  // namespace koord::store
