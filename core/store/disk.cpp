// SPDX-License-Identifier: Apache-2.0
#include "core/store/disk.hpp"

#include <algorithm>

#include "core/store/database_file.hpp"
#include "core/store/load.hpp"
#include "core/store/recovery.hpp"

namespace koord::store {

struct Disk::Statements {
  sqlite::Statement metric, series, chunk, journal, trim, value, erase, cut, forget;
};

bool Batch::empty() const {
  return metrics.empty() && series.empty() && chunks.empty() && values.empty() && journal.empty();
}

Disk::Disk(std::string path, std::uint64_t max_bytes, sqlite::Connection connection)
    : path_(std::move(path)), max_bytes_(max_bytes), connection_(std::move(connection)) {}

Disk::~Disk() = default;

Result<std::unique_ptr<Disk>> Disk::open(const std::string& path, std::uint64_t max_bytes, std::int64_t wall_ns,
                                         std::optional<std::int64_t> known, Loaded& loaded) {
  OpenedFile file = TRY(open_database(path, max_bytes, wall_ns));
  loaded.report = file.report;
  std::unique_ptr<Disk> disk(new Disk(path, max_bytes, std::move(file.connection)));
  TRY(disk->prepare());
  TRY(disk->load(known, loaded));
  return disk;
}

Result<void> Disk::prepare() {
  sqlite::Connection& c = connection_;
  auto made = std::make_unique<Statements>();
  made->metric = TRY(c.prepare("INSERT OR REPLACE INTO metric VALUES(?1,?2,?3,?4)"));
  made->series = TRY(c.prepare("INSERT OR REPLACE INTO identity VALUES(?1,?2,?3,?4)"));
  made->chunk = TRY(c.prepare("INSERT INTO chunk VALUES(?1,?2,?3,?4,?5,?6,?7)"));
  made->journal = TRY(c.prepare("INSERT INTO journal VALUES(?1,?2,?3)"));
  made->trim = TRY(c.prepare("DELETE FROM journal WHERE id <= ?1"));
  made->value = TRY(c.prepare("INSERT OR REPLACE INTO kv VALUES(?1,?2,?3)"));
  made->erase = TRY(c.prepare("DELETE FROM kv WHERE key = ?1"));
  made->cut = TRY(c.prepare("DELETE FROM chunk WHERE id <= ?1"));
  made->forget = TRY(c.prepare("DELETE FROM identity WHERE id = ?1"));
  statements_ = std::move(made);
  return {};
}

Result<void> Disk::load(std::optional<std::int64_t> known, Loaded& loaded) {
  TRY(load_names(connection_, loaded));
  TRY(load_values(connection_, loaded));
  next_chunk_ = TRY(connection_.integer("SELECT coalesce(max(id), 0) + 1 FROM chunk"));
  next_journal_ = TRY(connection_.integer("SELECT coalesce(max(id), 0) + 1 FROM journal"));
  if (known == loaded.file_id) {
    TRY(connection_.execute("DELETE FROM journal"));
  } else if (next_journal_ > 1) {
    TRY(recover(loaded));
  }
  return load_chunks(connection_, loaded);
}

Result<void> Disk::recover(Loaded& loaded) {
  std::vector<SealedChunkPtr> chunks = TRY(chunks_of_journal(connection_, *loaded.catalogue));
  auto replace = [&]() -> Result<void> {
    for (const SealedChunkPtr& chunk : chunks) TRY(insert_chunk(*chunk, next_chunk_++));
    return connection_.execute("DELETE FROM journal");
  };
  TRY(in_transaction(replace));
  if (!chunks.empty()) loaded.report += "the last run ended without closing the file, its journal is restored\n";
  return {};
}

template <class Work>
Result<void> Disk::in_transaction(Work work) {
  TRY(connection_.execute("BEGIN IMMEDIATE"));
  Result<void> done = work();
  if (done) done = connection_.execute("COMMIT");
  if (!done) (void)connection_.execute("ROLLBACK");  // fails if SQLite has already rolled back
  return done;
}

Result<std::int64_t> Disk::write(const Batch& batch) {
  TRY(check_log());
  std::int64_t first = next_chunk_;
  std::int64_t journal_id = next_journal_;
  std::vector<JournalRow> journal = journal_;
  Result<void> written = in_transaction([&] { return insert(batch, first); });
  if (!written) {
    next_journal_ = journal_id;
    journal_ = std::move(journal);
    return std::move(written).error();
  }
  next_chunk_ += static_cast<std::int64_t>(batch.chunks.size());
  return first;
}

Result<void> Disk::insert(const Batch& batch, std::int64_t chunk_id) {
  Statements& s = *statements_;
  for (const MetricRow& metric : batch.metrics) TRY(insert_metric(metric));
  for (const SeriesRow& series : batch.series) TRY(insert_series(series));
  for (const SealedChunkPtr& chunk : batch.chunks) TRY(insert_chunk(*chunk, chunk_id++));
  for (const KeyValues::Change& change : batch.values) TRY(insert_value(change));
  TRY(trim_journal(batch.oldest_unsealed_ms));
  if (batch.journal.empty()) return {};
  journal_.push_back({next_journal_, batch.journal_newest_ms});
  return s.journal.bind(1, next_journal_++).bind(2, batch.journal_newest_ms).bind_blob(3, batch.journal).run();
}

Result<void> Disk::insert_metric(const MetricRow& metric) {
  return statements_->metric.bind(1, std::int64_t{metric.id})
      .bind_text(2, metric.name)
      .bind_text(3, metric.unit)
      .bind(4, metric.resolution)
      .run();
}

Result<void> Disk::insert_series(const SeriesRow& series) {
  return statements_->series.bind(1, std::int64_t{series.id})
      .bind(2, std::int64_t{series.metric})
      .bind_blob(3, series.labels)
      .bind(4, series.ended_ms)
      .run();
}

Result<void> Disk::insert_chunk(const SealedChunk& chunk, std::int64_t rowid) {
  const ChunkRef& place = chunk.place;
  return statements_->chunk.bind(1, rowid)
      .bind(2, std::int64_t{chunk.metric})
      .bind(3, place.first_ms)
      .bind(4, place.last_ms)
      .bind(5, std::int64_t{place.lowest})
      .bind(6, std::int64_t{place.highest})
      .bind_blob(7, chunk.bytes)
      .run();
}

Result<void> Disk::insert_value(const KeyValues::Change& change) {
  const auto& [key, value] = change;
  if (!value) return statements_->erase.bind_text(1, key).run();
  return statements_->value.bind_text(1, key).bind(2, value->expires_ms).bind_blob(3, value->value).run();
}

Result<void> Disk::trim_journal(std::optional<std::int64_t> oldest_unsealed_ms) {
  auto needed = std::find_if(journal_.begin(), journal_.end(), [&](const JournalRow& row) {
    return oldest_unsealed_ms && row.newest_ms >= *oldest_unsealed_ms;
  });
  if (needed == journal_.begin()) return {};
  std::int64_t last = std::prev(needed)->id;
  journal_.erase(journal_.begin(), needed);
  return statements_->trim.bind(1, last).run();
}

Result<std::int64_t> Disk::cut(std::int64_t before_ms, std::size_t limit) {
  sqlite::Statement oldest = TRY(connection_.prepare("SELECT id, last_ms FROM chunk ORDER BY id LIMIT ?1"));
  oldest.bind(1, static_cast<std::int64_t>(limit));
  std::int64_t last = 0;
  for (;;) {
    bool row = TRY(oldest.step());
    if (!row || oldest.integer(1) >= before_ms) break;
    last = oldest.integer(0);
  }
  oldest.reset();
  if (last == 0) return last;
  TRY(in_transaction([&] { return statements_->cut.bind(1, last).run(); }));
  return last;
}

Result<void> Disk::forget(const std::vector<SeriesId>& series) {
  if (series.empty()) return {};
  return in_transaction([&]() -> Result<void> {
    for (SeriesId id : series) TRY(statements_->forget.bind(1, std::int64_t{id}).run());
    return {};
  });
}

Result<Disk::Size> Disk::size() {
  auto page = static_cast<std::uint64_t>(TRY(connection_.integer("PRAGMA page_size")));
  auto pages = static_cast<std::uint64_t>(TRY(connection_.integer("PRAGMA page_count")));
  auto free = static_cast<std::uint64_t>(TRY(connection_.integer("PRAGMA freelist_count")));
  return Size{(pages - free) * page, pages * page};
}

Result<void> Disk::check_log() {
  if (log_bytes(path_) <= most_log_bytes(max_bytes_)) return {};
  TRY(connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  if (const std::uint64_t bytes = log_bytes(path_); bytes > most_log_bytes(max_bytes_))
    return log_too_long(path_, bytes);
  return {};
}

Result<void> Disk::compact() { return connection_.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"); }

}  // namespace koord::store
