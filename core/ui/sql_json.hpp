// SPDX-License-Identifier: Apache-2.0
// The result of a SELECT as `koordctl sql -o json` prints it and the page gets it. [any thread]
#pragma once

#include <string>

#include "core/store/sql.hpp"

namespace koord::ui {

// {"columns": [NAME, …], "rows": [{NAME: TEXT, …}, …], "truncated": BOOLEAN} and a line end. The second
// column with the name "value" is "value:2".
std::string sql_json(const store::SqlResult& result);

}  // namespace koord::ui
