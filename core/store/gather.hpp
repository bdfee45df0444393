// SPDX-License-Identifier: Apache-2.0
// Gathering the samples of a query: from the file what has left the memory, from the sealed chunks that wait for the
// disk, and from the rings. The state is locked for a few microseconds per series, never while the disk is read. A
// file that cannot be read leaves its part out and is counted. [any thread]
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/store/aggregates.hpp"
#include "core/store/chunk_source.hpp"
#include "core/store/state.hpp"

namespace koord::store {

struct Span {
  std::int64_t from_ms;
  std::int64_t to_ms;
};

class Gatherer {
 public:
  struct Keep {
    bool times = false;   // of the samples
    bool labels = false;  // of a target
  };
  Gatherer(State& state, ChunkSource& source, Span span, Keep keep)
      : state_(state), source_(source), span_(span), keep_(keep) {}

  // The series that have the same labels: one, or several when the metric changed its resolution.
  struct Target {
    std::string labels;  // packed; empty when they are not kept
    boost::container::small_vector<SeriesId, 1> series;
    std::uint64_t tag = 0;  // of the living one
  };
  // Each set of labels with samples, which are the caller's until it returns. False: no others are wanted.
  using Visit = std::function<bool(const Target&, Collected&)>;
  void for_each(const std::string& metric, const Labels& match, const Visit& visit);

  // Collects one live series. Nothing if this index is unused, or has no sample.
  bool one(std::uint32_t index, Collected& collected);

 private:
  // The data to collect for one series, and how far the file and the sealed chunks count.
  struct Part {
    SeriesId id = 0;
    MetricId metric = 0;
    double resolution = 1;
    std::int64_t disk_until_ms = 0;
    Collected on_disk, in_memory;

    void begin(SeriesId series);
    std::size_t samples() const { return on_disk.values.size() + in_memory.values.size(); }
  };

  std::vector<Target> targets(const std::string& metric, const Labels& match);
  // Returns how many of the parts have their samples: the first `least` in any case, and the others as long as all
  // together have few enough.
  std::size_t gather(std::span<Part> parts, std::size_t least);
  void find_in_memory(std::span<Part> parts, std::vector<ChunkRef>& refs, std::vector<SealedChunkPtr>& sealed);
  void drop_last(std::span<Part>& parts, std::size_t least);
  void take_from_memory(const Column& column, Collected& collected) const;
  void read_chunk(std::string_view bytes, std::span<Part> parts);
  void take(const std::vector<std::int64_t>& times_ms, const std::vector<std::int64_t>& values, Part& part) const;
  Collected& merged(std::span<Part> parts);

  State& state_;
  ChunkSource& source_;
  Span span_;
  const Keep keep_;
  std::vector<std::int64_t> scratch_;
  Collected merged_;
};

}  // namespace koord::store
