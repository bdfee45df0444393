// SPDX-License-Identifier: Apache-2.0
// The writer's side of the file: one transaction per period, and cutting off what is too old. Used by the writer
// thread only; an error means that nothing of the call is in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"
#include "core/store/loaded.hpp"
#include "core/store/sealed_chunk.hpp"

namespace koord::store {

struct MetricRow {
  MetricId id;
  std::string name, unit;
  double resolution;
};
struct SeriesRow {
  SeriesId id;
  MetricId metric;
  std::string labels;
  std::optional<std::int64_t> ended_ms;
};

// Everything that one transaction brings to the file.
struct Batch {
  std::vector<MetricRow> metrics;
  std::vector<SeriesRow> series;
  std::vector<SealedChunkPtr> chunks;
  std::vector<KeyValues::Change> values;
  std::string journal;
  std::int64_t journal_newest_ms = 0;
  std::optional<std::int64_t> oldest_unsealed_ms;  // journal rows before it are deleted; all of them if empty

  bool empty() const;
};

class Disk {
 public:
  // Opens the file and reads it, sealing the journal into chunks. The journal of the file `known` is skipped: the
  // caller still has its samples in memory.
  static Result<std::unique_ptr<Disk>> open(const std::string& path, std::uint64_t max_bytes, std::int64_t wall_ns,
                                            std::optional<std::int64_t> known, Loaded& loaded);
  ~Disk();

  // Returns the row id of the batch's first chunk; the others follow it.
  Result<std::int64_t> write(const Batch& batch);

  // Deletes the oldest chunks: those that end before `before_ms`, up to `limit`. Returns the last row id deleted, or 0.
  Result<std::int64_t> cut(std::int64_t before_ms, std::size_t limit);
  Result<void> forget(const std::vector<SeriesId>& series);

  // Pages in use and in the file, in bytes.
  struct Size {
    std::uint64_t used = 0;
    std::uint64_t file = 0;
  };
  Result<Size> size();
  // Rewrites the file without its free pages.
  Result<void> compact();

 private:
  struct Statements;
  struct JournalRow {
    std::int64_t id;
    std::int64_t newest_ms;
  };
  Disk(std::string path, std::uint64_t max_bytes, sqlite::Connection connection);
  // An error when a reader keeps the write-ahead log longer than most_log_bytes().
  Result<void> check_log();
  Result<void> prepare();
  Result<void> load(std::optional<std::int64_t> known, Loaded& loaded);
  Result<void> recover(Loaded& loaded);
  Result<void> insert(const Batch& batch, std::int64_t chunk_id);
  Result<void> insert_metric(const MetricRow& metric);
  Result<void> insert_series(const SeriesRow& series);
  Result<void> insert_chunk(const SealedChunk& chunk, std::int64_t rowid);
  Result<void> insert_value(const KeyValues::Change& change);
  Result<void> trim_journal(std::optional<std::int64_t> oldest_unsealed_ms);
  template <class Work>
  Result<void> in_transaction(Work work);

  const std::string path_;
  const std::uint64_t max_bytes_;
  sqlite::Connection connection_;
  std::unique_ptr<Statements> statements_;
  std::int64_t next_chunk_ = 1;
  std::int64_t next_journal_ = 1;
  std::vector<JournalRow> journal_;
};

}  // namespace koord::store
