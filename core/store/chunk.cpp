// SPDX-License-Identifier: Apache-2.0
#include "core/store/chunk.hpp"

#include <algorithm>
#include <array>

#include "core/store/bytes.hpp"
#include "core/store/simple8b.hpp"

namespace koord::store {
namespace {

constexpr std::uint8_t kVersion = 1;
enum Presence : std::uint8_t { kAllPresent = 0, kBitmap = 1 };

using Words = std::vector<std::uint64_t>;

std::uint64_t difference(std::int64_t value, std::int64_t from) {
  return zigzag(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(from));
}

std::int64_t sum(std::int64_t value, std::uint64_t difference) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + unzigzag(difference));
}

// Encodes the first value, then the difference of each value to the previous one, packed.
void encode_values(std::span<const std::int64_t> values, Words& scratch, std::string& out) {
  append_varint(out, difference(values[0], 0));
  scratch.resize(values.size() - 1);
  for (std::size_t i = 1; i < values.size(); ++i) scratch[i - 1] = difference(values[i], values[i - 1]);
  simple8b_encode(scratch, out);
}

// Decodes values. `values.size()` is their number.
bool decode_values(ByteReader& in, std::span<std::int64_t> values) {
  std::array<std::uint64_t, kMaxChunkRows> differences;
  std::int64_t value = sum(0, in.varint());
  if (in.failed()) return false;
  std::span<std::uint64_t> rest(differences.data(), values.size() - 1);
  if (!simple8b_decode(in, rest)) return false;
  values[0] = value;
  for (std::size_t i = 0; i < rest.size(); ++i) values[i + 1] = value = sum(value, rest[i]);
  return true;
}

// Encodes times. Ticks are regular, so the differences of the differences are small.
void encode_times(std::span<const std::int64_t> times, Words& scratch, std::string& out) {
  std::vector<std::int64_t> steps(times.size());
  steps[0] = times[0];
  for (std::size_t i = 1; i < times.size(); ++i) steps[i] = times[i] - times[i - 1];
  append_varint(out, difference(steps[0], 0));
  if (times.size() > 1) encode_values(std::span<const std::int64_t>(steps).subspan(1), scratch, out);
}

bool decode_times(ByteReader& in, std::vector<std::int64_t>& times) {
  times[0] = sum(0, in.varint());
  if (in.failed()) return false;
  if (times.size() > 1 && !decode_values(in, std::span<std::int64_t>(times).subspan(1))) return false;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] <= 0 || times[i] > std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(times[i - 1], 0))
      return false;
    times[i] += times[i - 1];
  }
  return true;
}

void encode_bitmap(std::span<const std::int64_t> values, std::string& out) {
  std::string bits((values.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != kMissing) bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
  out += bits;
}

// Decodes the present values and moves them to their rows, which are the rows with a set bit, in this order.
bool decode_sparse(ByteReader& in, std::vector<std::int64_t>& values) {
  std::string_view bits = in.bytes((values.size() + 7) / 8);
  if (in.failed()) return false;
  auto present = [bits](std::size_t row) { return (bits[row / 8] >> (row % 8) & 1) != 0; };
  std::size_t count = 0;
  for (std::size_t row = 0; row < values.size(); ++row) count += present(row);
  if (count == 0 || !decode_values(in, std::span(values).first(count))) return false;
  for (std::size_t row = values.size(); row-- > 0;) values[row] = present(row) ? values[--count] : kMissing;
  return true;
}

void encode_column(const std::vector<std::int64_t>& values, std::vector<std::int64_t>& present, Words& scratch,
                   std::string& out) {
  present.clear();
  std::copy_if(values.begin(), values.end(), std::back_inserter(present), [](auto v) { return v != kMissing; });
  bool all = present.size() == values.size();
  out.push_back(static_cast<char>(all ? kAllPresent : kBitmap));
  if (!all) encode_bitmap(values, out);
  encode_values(present, scratch, out);
}

bool has_value(const std::vector<std::int64_t>& values) {
  return std::any_of(values.begin(), values.end(), [](std::int64_t v) { return v != kMissing; });
}

}  // namespace

void encode_chunk(const ChunkRows& rows, std::string& out) {
  out.clear();
  Words scratch;
  std::vector<std::int64_t> present;
  std::string ids, lengths, columns;
  std::size_t count = 0;
  SeriesId previous = 0;
  for (std::size_t i = 0; i < rows.series.size(); ++i) {
    if (!has_value(rows.values[i])) continue;
    append_varint(ids, rows.series[i] - previous);
    previous = rows.series[i];
    std::size_t start = columns.size();
    encode_column(rows.values[i], present, scratch, columns);
    append_varint(lengths, columns.size() - start);
    ++count;
  }
  if (count == 0) return;
  out.push_back(static_cast<char>(kVersion));
  append_varint(out, rows.times_ms.size());
  append_varint(out, count);
  encode_times(rows.times_ms, scratch, out);
  out += ids + lengths + columns;
}

std::optional<ChunkReader> ChunkReader::open(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.byte() != kVersion) return std::nullopt;
  std::uint64_t rows = in.varint();
  std::uint64_t series = in.varint();
  if (in.failed() || rows == 0 || rows > kMaxChunkRows || series == 0 || series > kGroupSeries) return std::nullopt;
  ChunkReader chunk;
  chunk.times_ms_.resize(rows);
  if (!decode_times(in, chunk.times_ms_)) return std::nullopt;
  chunk.series_.resize(series);
  SeriesId id = 0;
  for (SeriesId& each : chunk.series_) each = id += static_cast<SeriesId>(in.varint());
  std::array<std::uint64_t, kGroupSeries> lengths;
  for (std::size_t i = 0; i < series; ++i) lengths[i] = in.varint();
  for (std::size_t i = 0; i < series; ++i) chunk.columns_.push_back(in.bytes(lengths[i]));
  if (in.failed()) return std::nullopt;
  return chunk;
}

bool ChunkReader::read(std::size_t position, std::vector<std::int64_t>& values) const {
  ByteReader in(columns_[position]);
  values.resize(times_ms_.size());
  switch (in.byte()) {
    case kAllPresent:
      return !in.failed() && decode_values(in, values);
    case kBitmap:
      return decode_sparse(in, values);
    default:
      return false;
  }
}

}  // namespace koord::store
