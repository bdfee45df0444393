// SPDX-License-Identifier: Apache-2.0
// The metric cache: recent samples of every series in memory, older ones compressed in one SQLite file, and a
// small key-value part for data that changes rarely. The host owns one Store; plugins reach it through the host.
//
// Every function may be called from any thread. Appends and puts never wait for the disk: one writer thread owns
// the file, and its troubles show in stats(), not in the callers' results. Killing the process loses at most the
// last journal period.
//
// Times are host times, kept in milliseconds. The series of one metric share a time column: their samples are
// appended in ascending time, and those of one time make one row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/store/options.hpp"
#include "core/store/types.hpp"

namespace koord::store {

class Store {
 public:
  // Fails only for invalid options. A file that cannot be used (corrupt, of a newer version, not ours) is set aside
  // as "<path>.<reason>-<time>" and a new one is created; a disk that cannot be written means memory mode until it can.
  // `clock` must outlive the store.
  static Result<std::unique_ptr<Store>> open(Options options, const Clock& clock);

  // The newest sample in a file, for SystemClock(not_before): read before there is a clock, so before open().
  // Nothing when there is no file, no sample in it, or no reading it.
  static std::optional<Time> newest_time(const std::string& path);

  ~Store();  // brings everything to the disk
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Returns the findings of open(), one sentence per line; empty when all was well.
  const std::string& open_report() const;

  // From here on `index` means this series, until end_series(index). Refused: an index or an identity in use.
  Result<void> begin_series(std::uint32_t index, const SeriesSpec& spec);
  // The history stays. An unknown index is ignored.
  void end_series(std::uint32_t index);

  // Appends all samples or, on an error, none: an unknown index, a value that is infinite or beyond 2^61 resolutions,
  // a time before the newest row of one of the metrics. A sample at the newest time joins that row.
  Result<void> append(Time time, std::span<const Sample> samples);

  // One row for each set of labels that has samples in the query's span, ordered by labels.
  std::vector<AggregateRow> aggregate(const Query& query, std::span<const Aggregation> aggregations) const;
  // The same for one living series; its labels are not filled in. Nothing when it has no sample in the span.
  std::optional<AggregateRow> aggregate_series(std::uint32_t index, std::span<const Aggregation> aggregations,
                                               Time from, Time to) const;
  std::vector<SeriesSamples> samples(const Query& query) const;

  // Keys of at most 256 bytes, values of at most 1 MiB, 16 MiB in all. Survives a restart.
  Result<void> put(const std::string& key, std::span<const std::byte> value,
                   std::optional<Duration> time_to_live = std::nullopt);
  std::optional<std::vector<std::byte>> get(const std::string& key) const;
  void erase(const std::string& key);
  // Returns the use of the keys with this prefix, including those that have expired and are not swept yet.
  KeyValueUse use_below(const std::string& prefix) const;

  Stats stats() const;

  // Waits until the writer has written what was appended and put before this call, or has found that it cannot.
  // For tests, benchmarks and tools; a collector has no reason to call it.
  void flush();

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace koord::store
