// SPDX-License-Identifier: Apache-2.0
// The virtual tables that run_sql adds: `samples` and `series`. They read through the connection they are part of.
#pragma once

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"

namespace koord::store {

// `connection` must outlive the tables, which go with it.
Result<void> add_sample_table(sqlite::Connection& connection);
Result<void> add_series_table(sqlite::Connection& connection);

}  // namespace koord::store
