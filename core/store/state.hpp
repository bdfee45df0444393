// SPDX-License-Identifier: Apache-2.0
// State shared by the store's threads: those that append and ask, and the writer. Everything here is guarded by the
// mutex, which is never held during disk work or longer than a few microseconds per series.
#pragma once

#include <mutex>

#include "core/store/chunk_index.hpp"
#include "core/store/head.hpp"
#include "core/store/key_values.hpp"
#include "core/store/sealed_chunk.hpp"
#include "core/store/types.hpp"

namespace koord::store {

struct State {
  explicit State(const Options& options) : head(options) {}

  // Takes the catalogue of a file that was opened; the series and chunks in memory get their numbers in it.
  void renumber(std::unique_ptr<Catalogue> catalogue);

  mutable std::mutex mutex;
  Head head;
  ChunkIndex chunks;
  PendingChunks pending;
  KeyValues values;
  Stats stats;
};

}  // namespace koord::store
