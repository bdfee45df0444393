// SPDX-License-Identifier: Apache-2.0
#include "core/store/unsealed.hpp"

#include <algorithm>

#include "core/store/bytes.hpp"
#include "core/store/journal.hpp"

namespace koord::store {

Result<std::optional<std::int64_t>> oldest_in_journal(sqlite::Connection& connection) {
  sqlite::Statement first = TRY(connection.prepare("SELECT data FROM journal ORDER BY id LIMIT 1"));
  bool row = TRY(first.step());
  if (!row) return std::optional<std::int64_t>();
  ByteReader in(first.blob(0));
  return std::optional(static_cast<std::int64_t>(in.varint()));
}

Result<SealedUntil> SealedUntil::read(sqlite::Connection& connection, std::int64_t from_ms, SeriesId largest_id) {
  SealedUntil sealed(largest_id);
  sqlite::Statement chunks = TRY(connection.prepare("SELECT last_ms, data FROM chunk WHERE last_ms >= ?1"));
  chunks.bind(1, from_ms);
  for (;;) {
    bool row = TRY(chunks.step());
    if (!row) return sealed;
    std::optional<ChunkReader> chunk = ChunkReader::open(chunks.blob(1));
    if (!chunk) continue;
    for (SeriesId id : chunk->series())
      if (id <= largest_id) sealed.until_ms_[id] = std::max(sealed.until_ms_[id], chunks.integer(0));
  }
}

Result<void> for_each_unsealed(sqlite::Connection& connection, SeriesId largest_id, const VisitEntry& visit) {
  std::optional<std::int64_t> oldest = TRY(oldest_in_journal(connection));
  if (!oldest) return {};
  // Batches of different metrics are not in time order; batches of slow metrics may be slightly older.
  SealedUntil sealed = TRY(SealedUntil::read(connection, *oldest - 60'000, largest_id));
  sqlite::Statement rows = TRY(connection.prepare("SELECT data FROM journal ORDER BY id"));
  JournalReader reader(largest_id);
  for (;;) {
    bool row = TRY(rows.step());
    if (!row) return {};
    bool sound = reader.read(rows.blob(0), [&](std::int64_t time_ms, SeriesId id, std::int64_t value) {
      if (!sealed.covers(id, time_ms)) visit(time_ms, id, value);
    });
    if (!sound) return {};
  }
}

}  // namespace koord::store
