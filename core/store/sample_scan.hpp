// SPDX-License-Identifier: Apache-2.0
// All samples of a file, one after the other, chunk by chunk and then what is only in the journal. For SQL.
// [one thread]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"
#include "core/store/chunk.hpp"
#include "core/store/loaded.hpp"

namespace koord::store {

struct ScanBounds {
  std::optional<std::string> metric;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = INT64_MAX;
};

class SampleScan {
 public:
  static Result<SampleScan> begin(sqlite::Connection& connection, ScanBounds bounds);

  // False at the end.
  Result<bool> next();

  std::int64_t time_ms() const { return samples_[at_].time_ms; }
  double value() const;
  const Metric& metric() const;
  const std::string& labels() const { return identity().labels(); }

 private:
  struct Sample {
    std::int64_t time_ms;
    SeriesId id;
    std::int64_t value;
  };
  SampleScan(sqlite::Connection& connection, ScanBounds bounds, sqlite::Statement chunks)
      : connection_(&connection),
        bounds_(std::make_unique<ScanBounds>(std::move(bounds))),
        chunks_(std::move(chunks)) {}
  Result<bool> load_more();
  Result<bool> load_journal();
  void load_chunk(std::string_view bytes);
  void take(std::int64_t time_ms, SeriesId id, std::int64_t value);
  const Identity& identity() const { return *names_.catalogue->find(samples_[at_].id); }

  sqlite::Connection* connection_;
  std::unique_ptr<ScanBounds> bounds_;  // the statement points into it
  sqlite::Statement chunks_;
  Loaded names_;
  bool chunks_done_ = false;
  bool journal_done_ = false;
  std::vector<Sample> samples_;
  std::size_t at_ = 0;
};

}  // namespace koord::store
