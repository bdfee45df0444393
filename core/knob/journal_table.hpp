// SPDX-License-Identifier: Apache-2.0
// The journal's table: a row for each knob that is kept, and what is remembered of starts. [one thread at a time]
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/knob/originals.hpp"
#include "core/sqlite/connection.hpp"

namespace koord::knob {

// A new file's tables.
extern const char* const kJournalTables;

struct JournalContent {
  std::vector<Original> knobs;     // of this boot
  std::size_t of_other_boots = 0;  // their cgroups have gone since, or have the kernel's own value
};
// bad_message: a row means nothing.
Result<JournalContent> read_journal(sqlite::Connection& connection, const std::string& boot);

class JournalTable {
 public:
  static Result<JournalTable> make(sqlite::Connection connection);

  // All of `change` or nothing. durable: it outlives a power cut.
  Result<void> transact(bool durable, const std::function<Result<void>()>& change);
  Result<void> put(const Original& knob, const std::string& boot, std::int64_t wall_ms);
  Result<void> erase(const KnobKey& key);
  Result<void> clear();

  // Returns 0 if the value was never set or cannot be read.
  std::int64_t meta(const std::string& key);
  Result<void> set_meta(const std::string& key, std::int64_t value);

 private:
  JournalTable(sqlite::Connection connection, sqlite::Statement insert, sqlite::Statement remove)
      : connection_(std::move(connection)), insert_(std::move(insert)), remove_(std::move(remove)) {}

  sqlite::Connection connection_;
  sqlite::Statement insert_, remove_;
};

}  // namespace koord::knob
