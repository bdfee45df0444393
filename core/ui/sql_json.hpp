// SPDX-License-Identifier: Apache-2.0
// The result of a SELECT as `koordctl sql -o json` prints it and the page gets it. [any thread]
#pragma once

#include <string>

#include "core/store/sql.hpp"

namespace koord::ui {

// {"columns": [NAME, …], "rows": [{NAME: TEXT, …}, …], "truncated": BOOLEAN} and a line end. The rows have only
// the last one of columns with the same name.
std::string sql_json(const store::SqlResult& result);

}  // namespace koord::ui
