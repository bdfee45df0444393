// SPDX-License-Identifier: Apache-2.0
#include "core/store/state.hpp"

#include <algorithm>
#include <numeric>

namespace koord::store {
namespace {

// Returns a chunk with the same rows under new series ids. Ids ascend in a chunk, so the order of the series may
// change.
SealedChunkPtr renumbered_chunk(const SealedChunk& chunk, MetricId metric,
                                const std::unordered_map<SeriesId, SeriesId>& numbers) {
  std::optional<ChunkReader> old = ChunkReader::open(chunk.bytes);
  if (!old) return nullptr;
  std::map<SeriesId, std::size_t> places;
  for (std::size_t i = 0; i < old->series().size(); ++i) {
    if (auto found = numbers.find(old->series()[i]); found != numbers.end()) places[found->second] = i;
  }
  ChunkRows rows;
  rows.times_ms = old->times_ms();
  for (const auto& [id, place] : places) {
    rows.series.push_back(id);
    old->read(place, rows.values.emplace_back());
  }
  return rows.series.empty() ? nullptr : make_sealed(metric, rows);
}

}  // namespace

void State::renumber(std::unique_ptr<Catalogue> catalogue) {
  std::unordered_map<SeriesId, SeriesId> numbers;
  std::unordered_map<MetricId, MetricId> metrics;
  head.adopt(std::move(catalogue), numbers, metrics);
  std::deque<SealedChunkPtr> kept;
  for (const SealedChunkPtr& chunk : pending.all()) {
    auto metric = metrics.find(chunk->metric);
    if (metric == metrics.end()) continue;
    if (SealedChunkPtr again = renumbered_chunk(*chunk, metric->second, numbers)) kept.push_back(std::move(again));
  }
  pending.replace(std::move(kept));
}

}  // namespace koord::store
