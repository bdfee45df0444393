// SPDX-License-Identifier: Apache-2.0
#include "core/store/sealed_chunk.hpp"

#include <algorithm>

namespace koord::store {
namespace {

// About 12 minutes at 10,000 series with one sample per second.
constexpr std::size_t kMaxPendingBytes = 8u << 20;

std::uint64_t count_samples(const ChunkRows& rows) {
  std::uint64_t count = 0;
  for (const auto& values : rows.values)
    count += values.size() - static_cast<std::size_t>(std::count(values.begin(), values.end(), kMissing));
  return count;
}

}  // namespace

SealedChunkPtr make_sealed(MetricId metric, const ChunkRows& rows) {
  auto chunk = std::make_shared<SealedChunk>();
  encode_chunk(rows, chunk->bytes);
  if (chunk->bytes.empty()) return nullptr;
  chunk->bytes.shrink_to_fit();
  chunk->metric = metric;
  chunk->samples = count_samples(rows);
  chunk->place = {0, rows.times_ms.front(), rows.times_ms.back(), rows.series.front(), rows.series.back()};
  return chunk;
}

std::uint64_t PendingChunks::add(SealedChunkPtr chunk) {
  bytes_ += chunk->bytes.size();
  chunks_.push_back(std::move(chunk));
  std::uint64_t dropped = 0;
  while (bytes_ > kMaxPendingBytes) {
    dropped += chunks_.front()->samples;
    bytes_ -= chunks_.front()->bytes.size();
    chunks_.pop_front();
  }
  return dropped;
}

void PendingChunks::remove_written(std::size_t count) {
  for (; count > 0; --count) {
    bytes_ -= chunks_.front()->bytes.size();
    chunks_.pop_front();
  }
}

std::optional<std::int64_t> PendingChunks::oldest_ms() const {
  std::optional<std::int64_t> oldest;
  for (const auto& chunk : chunks_) oldest = std::min(oldest.value_or(chunk->place.first_ms), chunk->place.first_ms);
  return oldest;
}

void PendingChunks::replace(std::deque<SealedChunkPtr> chunks) {
  chunks_ = std::move(chunks);
  bytes_ = 0;
  for (const auto& chunk : chunks_) bytes_ += chunk->bytes.size();
}

}  // namespace koord::store
