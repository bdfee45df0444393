// SPDX-License-Identifier: Apache-2.0
// The plain values that go into the metric cache and come out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::store {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Identity and properties of a series. Metric and labels are its identity: if they are used again, also after a
// restart, the history continues. Labels with an empty value are the same as no label.
struct SeriesSpec {
  std::string metric;
  std::string unit;
  double resolution = 1;  // values are kept as whole multiples of it
  Labels labels;
  std::uint64_t tag = 0;  // the caller's own number for it: results of queries carry it while the series exists
};

struct Sample {
  std::uint32_t index;  // as given to begin_series
  double value;         // NaN: no value this time, skipped
};

struct TimedValue {
  Time time;
  double value;
};

// Which samples: of every series of `metric` that has all the labels in `match`, between the times, both included.
struct Query {
  std::string metric;
  Labels match;
  Time from;
  Time to;
  // Without, the rows' labels stay empty, and the rows are in the order in which their series began: that costs half.
  bool with_labels = true;
  // samples() and aggregate() stop after the series with which they have read more samples, or have more rows.
  std::size_t most_samples = std::numeric_limits<std::size_t>::max();
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();
};

// How much of the key-value part some keys take.
struct KeyValueUse {
  std::size_t keys = 0;
  std::size_t bytes = 0;  // of keys and values
};

// A percentile is a value that was sampled: the one at index floor(n * p / 100) - 1, at least 0, in ascending order.
enum class Aggregation { last, avg, min, max, count, p50, p90, p95, p99 };

// The Aggregations of one series, in the order they were asked for. `from` and `to` are the times of the first and
// the last sample behind the values: the span that is really covered.
struct AggregateRow {
  Labels labels;
  std::uint64_t tag = 0;  // 0: no living series has these labels
  std::vector<double> values;
  std::uint64_t count = 0;
  Time from;
  Time to;
};

struct SeriesSamples {
  Labels labels;
  std::uint64_t tag = 0;            // as in AggregateRow
  std::vector<TimedValue> samples;  // ascending in time
};

enum class Mode { disk, memory };

struct Stats {
  Mode mode = Mode::memory;
  std::string reason;  // why memory: empty when no path was configured
  std::uint64_t bytes_on_disk = 0;
  std::uint64_t chunks = 0;
  std::uint64_t series = 0;       // identities known, living and ended
  std::uint64_t live_series = 0;  // begun and not ended
  std::uint64_t appended_samples = 0;
  std::uint64_t dropped_samples = 0;  // never reached the disk though there should be one
  std::uint64_t read_errors = 0;      // queries answered without the disk's part
  std::uint64_t most_gathered = 0;    // samples that a query held at one time, with the chunk that it read last
  bool over_budget = false;           // larger than max_bytes, to keep min_span
  std::optional<Time> last_flush;     // of the last transaction that reached the disk
  std::optional<Time> oldest;         // the oldest sample on disk
};

}  // namespace koord::store
