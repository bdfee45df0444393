// SPDX-License-Identifier: Apache-2.0
// Reads chunks from the file for queries, on a connection of its own: queries do not wait for the writer, nor it for
// them. Any thread may call; they take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"

namespace koord::store {

class ChunkSource {
 public:
  // From now on this file; "" for none. Opened at the first read.
  void use(const std::string& path);

  // Calls visit(bytes) for each of these chunks that is (still) there, in one read transaction.
  Result<void> read(std::span<const std::int64_t> rowids, const std::function<void(std::string_view)>& visit);

 private:
  struct Reading {
    sqlite::Connection connection;
    sqlite::Statement begin, chunk, end;
  };
  static Result<std::unique_ptr<Reading>> open(const std::string& path);

  std::mutex mutex_;
  std::string path_;
  std::unique_ptr<Reading> reading_;
};

}  // namespace koord::store
