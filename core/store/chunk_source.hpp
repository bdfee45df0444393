// SPDX-License-Identifier: Apache-2.0
// Reads chunks from the file for queries, on a connection of its own: queries do not wait for the writer, nor it for
// them. Any thread may call; they take turns per chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.hpp"
#include "core/store/sqlite.hpp"

namespace koord::store {

class ChunkSource {
 public:
  // From now on this file; "" for none. Opened at the first read.
  void use(const std::string& path);

  // False when there is no such chunk (any more).
  Result<bool> read(std::int64_t rowid, std::string& bytes);

 private:
  struct Reading {
    Connection connection;
    Statement chunk;
  };
  static Result<std::unique_ptr<Reading>> open(const std::string& path);

  std::mutex mutex_;
  std::string path_;
  std::unique_ptr<Reading> reading_;
};

}  // namespace koord::store
