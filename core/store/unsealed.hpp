// SPDX-License-Identifier: Apache-2.0
// The journal's rows go back further than the last seal of most series. This says, per series, up to which time the
// journal's entries are in chunks already. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"
#include "core/store/chunk.hpp"

namespace koord::store {

class SealedUntil {
 public:
  // Reads the chunks with samples since `from_ms`, the oldest time in the journal.
  static Result<SealedUntil> read(sqlite::Connection& connection, std::int64_t from_ms, SeriesId largest_id);

  bool covers(SeriesId id, std::int64_t time_ms) const { return time_ms <= until_ms_[id]; }

 private:
  explicit SealedUntil(SeriesId largest_id)
      : until_ms_(std::size_t{largest_id} + 1, std::numeric_limits<std::int64_t>::min()) {}
  std::vector<std::int64_t> until_ms_;
};

// The oldest time in the journal; nothing when it is empty.
Result<std::optional<std::int64_t>> oldest_in_journal(sqlite::Connection& connection);

// Each entry of the journal that is in no chunk, by time. A damaged row ends the journal.
using VisitEntry = std::function<void(std::int64_t time_ms, SeriesId id, std::int64_t value)>;
Result<void> for_each_unsealed(sqlite::Connection& connection, SeriesId largest_id, const VisitEntry& visit);

}  // namespace koord::store
