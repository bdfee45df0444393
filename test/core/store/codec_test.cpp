// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>

#include "core/store/chunk.hpp"
#include "core/store/packed_labels.hpp"
#include "core/store/simple8b.hpp"

using namespace koord::store;

namespace {

std::vector<std::uint64_t> round_trip(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  simple8b_encode(values, bytes);
  ByteReader in(bytes);
  std::vector<std::uint64_t> decoded(values.size());
  REQUIRE(simple8b_decode(in, decoded));
  CHECK(in.left() == 0);
  return decoded;
}

// Returns values of every width, runs of zeros, and some missing values.
ChunkRows random_rows(std::mt19937_64& random) {
  ChunkRows rows;
  std::int64_t time = 1'700'000'000'000;
  for (std::size_t row = 1 + random() % 200; row > 0; --row)
    rows.times_ms.push_back(time += 1 + static_cast<int>(random() % 2000));
  SeriesId id = 0;
  for (std::size_t series = 1 + random() % kGroupSeries; series > 0; --series) {
    rows.series.push_back(id += 1 + static_cast<SeriesId>(random() % 9));
    std::vector<std::int64_t>& values = rows.values.emplace_back();
    unsigned shift = static_cast<unsigned>(random() % 64);
    bool sparse = random() % 2 == 0;
    for (std::size_t row = 0; row < rows.times_ms.size(); ++row)
      values.push_back(sparse && random() % 4 == 0 ? kMissing : static_cast<std::int64_t>(random() >> shift));
    values[random() % values.size()] = 7;
  }
  return rows;
}

}  // namespace

TEST_CASE("simple8b: 120 zeros are one word") {
  std::string bytes;
  simple8b_encode(std::vector<std::uint64_t>(120, 0), bytes);
  CHECK(bytes.size() == 8);
}

TEST_CASE("simple8b: sixty bits stand in one word, a value of 64 bits in two") {
  std::string bytes;
  simple8b_encode(std::vector<std::uint64_t>(60, 1), bytes);
  CHECK(bytes.size() == 8);
  simple8b_encode(std::vector<std::uint64_t>{~std::uint64_t{0}}, bytes);
  CHECK(bytes.size() == 8 + 16);
}

TEST_CASE("simple8b: values of every width come back") {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    std::uint64_t value = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    for (std::size_t count : {1u, 2u, 59u, 61u, 240u}) {
      std::vector<std::uint64_t> values(count, value);
      values[count / 2] = 0;
      CHECK(round_trip(values) == values);
    }
  }
}

TEST_CASE("simple8b: bytes that end too early are refused") {
  std::string bytes;
  simple8b_encode(std::vector<std::uint64_t>(100, 12345), bytes);
  bytes.pop_back();
  ByteReader in(bytes);
  std::vector<std::uint64_t> decoded(100);
  CHECK_FALSE(simple8b_decode(in, decoded));
}

TEST_CASE("a chunk returns its times, series, values and gaps") {
  std::mt19937_64 random(42);
  for (int round = 0; round < 300; ++round) {
    ChunkRows rows = random_rows(random);
    std::string bytes;
    encode_chunk(rows, bytes);
    std::optional<ChunkReader> chunk = ChunkReader::open(bytes);
    REQUIRE(chunk);
    CHECK(chunk->times_ms() == rows.times_ms);
    CHECK(chunk->series() == rows.series);
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < rows.series.size(); ++i) {
      REQUIRE(chunk->read(i, values));
      CHECK(values == rows.values[i]);
    }
  }
}

TEST_CASE("a chunk leaves out a series without a value") {
  std::string bytes;
  encode_chunk({{1000, 2000}, {3, 5}, {{kMissing, kMissing}, {1, 2}}}, bytes);
  std::optional<ChunkReader> chunk = ChunkReader::open(bytes);
  REQUIRE(chunk);
  CHECK(chunk->series() == std::vector<SeriesId>{5});
}

TEST_CASE("a chunk with any byte cut off or changed is refused or read, never more") {
  std::mt19937_64 random(7);
  std::string bytes;
  encode_chunk(random_rows(random), bytes);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK_FALSE(ChunkReader::open(std::string_view(bytes).substr(0, i)));
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1 + random() % 255));
    if (std::optional<ChunkReader> chunk = ChunkReader::open(changed))
      for (std::size_t s = 0; s < chunk->series().size(); ++s)
        if (chunk->read(s, values)) CHECK(values.size() == chunk->times_ms().size());
  }
}

TEST_CASE("a constant series costs an eighth of a byte per sample") {
  ChunkRows rows;
  for (int row = 0; row < 120; ++row) rows.times_ms.push_back(1'700'000'000'000 + row * 1000);
  for (SeriesId id = 1; id <= 32; ++id) {
    rows.series.push_back(id);
    rows.values.emplace_back(120, 4096);
  }
  std::string bytes;
  encode_chunk(rows, bytes);
  CHECK(bytes.size() < 32 * 120 / 8);
}

TEST_CASE("labels are the same in any order and without the empty ones") {
  CHECK(pack_labels({{"b", "2"}, {"a", "1"}}) == pack_labels({{"a", "1"}, {"c", ""}, {"b", "2"}}));
  CHECK(labels_as_json(pack_labels({{"b", "say \"x\"\n"}, {"a", "1"}})) == R"({"a":"1","b":"say \"x\"\u000a"})");
  CHECK(label_value(pack_labels({{"b", "2"}, {"a", "1"}}), "b") == "2");
}
