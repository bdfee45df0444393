// SPDX-License-Identifier: Apache-2.0
#include "core/store/chunk_index.hpp"

#include <algorithm>

namespace koord::store {
namespace {

// A group is sealed within 4 minutes after its oldest row. So the chunks of a metric are sorted by their last rows,
// except for differences of about 4 minutes.
constexpr std::int64_t kDisorderMs = 600'000;

}  // namespace

void ChunkIndex::add(MetricId metric, const ChunkRef& chunk) {
  Chunks& chunks = metrics_[metric];
  chunks.refs.push_back(chunk);
  chunks.newest_ms = std::max(chunks.newest_ms, chunk.last_ms);
  ++size_;
}

void ChunkIndex::clear() {
  metrics_.clear();
  size_ = 0;
}

void ChunkIndex::cut(std::int64_t rowid) {
  for (auto& [metric, chunks] : metrics_) {
    while (!chunks.refs.empty() && chunks.refs.front().rowid <= rowid) {
      chunks.refs.pop_front();
      --size_;
    }
  }
}

std::vector<ChunkRef> ChunkIndex::find(MetricId metric, SeriesId lowest, SeriesId highest, std::int64_t from_ms,
                                       std::int64_t to_ms) const {
  std::vector<ChunkRef> found;
  auto at = metrics_.find(metric);
  if (at == metrics_.end()) return found;
  const std::deque<ChunkRef>& refs = at->second.refs;
  for (auto chunk = refs.rbegin(); chunk != refs.rend() && chunk->last_ms >= from_ms - kDisorderMs; ++chunk) {
    if (chunk->overlaps(from_ms, to_ms) && chunk->lowest <= highest && chunk->highest >= lowest)
      found.push_back(*chunk);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::optional<std::int64_t> ChunkIndex::newest_ms(MetricId metric) const {
  auto at = metrics_.find(metric);
  if (at == metrics_.end()) return std::nullopt;
  return at->second.newest_ms;
}

std::optional<std::int64_t> ChunkIndex::newest_ms() const {
  std::optional<std::int64_t> newest;
  for (const auto& each : metrics_) newest = std::max(newest, std::optional(each.second.newest_ms));
  return newest;
}

std::optional<std::int64_t> ChunkIndex::oldest_ms() const {
  std::optional<std::int64_t> oldest;
  for (const auto& [metric, chunks] : metrics_) {
    if (chunks.refs.empty()) continue;
    oldest = std::min(oldest.value_or(chunks.refs.front().first_ms), chunks.refs.front().first_ms);
  }
  return oldest;
}

}  // namespace koord::store
