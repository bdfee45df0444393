// SPDX-License-Identifier: Apache-2.0
// A chunk: the rows of up to 32 series of one metric, compressed into one byte string for one SQLite row. The series
// share the time column; each can be decoded without the others. [any thread]
//
//   version | rows | series | times | series ids | lengths | per series: presence, first value, packed differences
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace koord::store {

using SeriesId = std::uint32_t;

inline constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();
inline constexpr std::size_t kGroupSeries = 32;
inline constexpr std::size_t kChunkRows = 120;
// No chunk is longer: an excess in a damaged or hostile file is refused.
inline constexpr std::size_t kMaxChunkRows = 4096;

// Rows that are to be, or have been, a chunk. Series ids ascend.
struct ChunkRows {
  std::vector<std::int64_t> times_ms;
  std::vector<SeriesId> series;
  std::vector<std::vector<std::int64_t>> values;  // per series, one per time, kMissing for none
};

// A series without any value is left out; nothing is left when no series has one, and `out` stays empty.
void encode_chunk(const ChunkRows& rows, std::string& out);

// Reads a chunk that someone else keeps in memory.
class ChunkReader {
 public:
  // Nothing when the bytes are not a chunk.
  static std::optional<ChunkReader> open(std::string_view bytes);

  const std::vector<std::int64_t>& times_ms() const { return times_ms_; }
  const std::vector<SeriesId>& series() const { return series_; }

  // One value per time, kMissing for none; false when these bytes are damaged.
  bool read(std::size_t position, std::vector<std::int64_t>& values) const;

 private:
  std::vector<std::int64_t> times_ms_;
  std::vector<SeriesId> series_;
  std::vector<std::string_view> columns_;
};

}  // namespace koord::store
