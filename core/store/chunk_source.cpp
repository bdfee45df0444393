// SPDX-License-Identifier: Apache-2.0
#include "core/store/chunk_source.hpp"

namespace koord::store {

void ChunkSource::use(const std::string& path) {
  std::lock_guard lock(mutex_);
  path_ = path;
  reading_.reset();
}

Result<std::unique_ptr<ChunkSource::Reading>> ChunkSource::open(const std::string& path) {
  Connection connection = TRY(Connection::open(path, Connection::Access::read_only));
  TRY(connection.execute("PRAGMA cache_size=-1024"));
  Statement chunk = TRY(connection.prepare("SELECT data FROM chunk WHERE id = ?1"));
  return std::make_unique<Reading>(Reading{std::move(connection), std::move(chunk)});
}

Result<bool> ChunkSource::read(std::int64_t rowid, std::string& bytes) {
  std::lock_guard lock(mutex_);
  if (path_.empty()) return false;
  if (!reading_) reading_ = TRY(open(path_));
  Statement& chunk = reading_->chunk;
  bool row = TRY(chunk.bind(1, rowid).step());
  if (!row) return false;
  bytes.assign(chunk.blob(0));
  chunk.reset();
  return true;
}

}  // namespace koord::store
