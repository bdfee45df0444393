// SPDX-License-Identifier: Apache-2.0
#include "core/store/chunk_source.hpp"

namespace koord::store {

void ChunkSource::use(const std::string& path) {
  std::lock_guard lock(mutex_);
  path_ = path;
  reading_.reset();
}

Result<std::unique_ptr<ChunkSource::Reading>> ChunkSource::open(const std::string& path) {
  sqlite::Connection connection = TRY(sqlite::Connection::open(path, sqlite::Connection::Access::read_only));
  TRY(connection.execute("PRAGMA cache_size=-1024"));
  sqlite::Statement begin = TRY(connection.prepare("BEGIN"));
  sqlite::Statement chunk = TRY(connection.prepare("SELECT data FROM chunk WHERE id = ?1"));
  sqlite::Statement end = TRY(connection.prepare("COMMIT"));
  return std::make_unique<Reading>(Reading{std::move(connection), std::move(begin), std::move(chunk), std::move(end)});
}

Result<void> ChunkSource::read(std::span<const std::int64_t> rowids,
                               const std::function<void(std::string_view)>& visit) {
  std::lock_guard lock(mutex_);
  if (path_.empty() || rowids.empty()) return {};
  if (!reading_) reading_ = TRY(open(path_));
  Result<void> done = reading_->begin.run();
  for (std::size_t i = 0; done && i < rowids.size(); ++i) {
    Result<bool> row = reading_->chunk.bind(1, rowids[i]).step();
    if (!row) done = std::move(row).error();
    if (row && *row) visit(reading_->chunk.blob(0));
    reading_->chunk.reset();
  }
  if (Result<void> ended = reading_->end.run(); done) done = std::move(ended);
  if (!done) reading_.reset();  // the next read opens a new connection, because the file may have been replaced
  return done;
}

}  // namespace koord::store
