// SPDX-License-Identifier: Apache-2.0
// The result of a SELECT, as `koordctl sql -o json` prints it and the page receives it. [any thread]
#pragma once

#include <string>

#include "core/store/sql.hpp"

namespace koord::ui {

// Returns {"columns": [NAME, …], "rows": [{NAME: TEXT, …}, …], "truncated": BOOLEAN} and a line end. If two columns
// have the name "value", the second one is "value:2".
std::string sql_json(const store::SqlResult& result);

}  // namespace koord::ui
