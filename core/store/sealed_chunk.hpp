// SPDX-License-Identifier: Apache-2.0
// Chunks that are sealed and not yet in the file: for a moment when all is well, longer while the disk cannot be
// written, forever when there is no file. Bounded: the oldest go first. Part of State and guarded by its mutex.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/store/chunk_index.hpp"

namespace koord::store {

struct SealedChunk {
  MetricId metric = 0;
  ChunkRef place;  // rowid 0 until it is written
  std::uint64_t samples = 0;
  std::string bytes;
};
using SealedChunkPtr = std::shared_ptr<const SealedChunk>;

// Nothing when the rows hold no value.
SealedChunkPtr make_sealed(MetricId metric, const ChunkRows& rows);

class PendingChunks {
 public:
  // Returns how many samples had to go to make room.
  std::uint64_t add(SealedChunkPtr chunk);
  // Takes away those that were listed first and are now written.
  void remove_written(std::size_t count);
  const std::deque<SealedChunkPtr>& all() const { return chunks_; }
  std::optional<std::int64_t> oldest_ms() const;
  void replace(std::deque<SealedChunkPtr> chunks);

 private:
  std::deque<SealedChunkPtr> chunks_;
  std::size_t bytes_ = 0;
};

}  // namespace koord::store
