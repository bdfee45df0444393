// SPDX-License-Identifier: Apache-2.0
// Reading a file's content into memory when it is opened. Rows that make no sense are left out.
#pragma once

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"
#include "core/store/loaded.hpp"

namespace koord::store {

// Metrics and series; those that were living when the last run ended count as ended with the file's newest sample.
Result<void> load_names(sqlite::Connection& connection, Loaded& loaded);
Result<void> load_chunks(sqlite::Connection& connection, Loaded& loaded);
Result<void> load_values(sqlite::Connection& connection, Loaded& loaded);

// Returns the newest sample in the file, in chunks or journal; 0 if empty.
Result<std::int64_t> newest_ms(sqlite::Connection& connection);

}  // namespace koord::store
