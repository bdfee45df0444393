// SPDX-License-Identifier: Apache-2.0
#include "core/ui/sql_json.hpp"

#include <boost/json.hpp>
#include <utility>

namespace koord::ui {

std::string sql_json(const store::SqlResult& result) {
  namespace json = boost::json;
  json::array columns, rows;
  for (const std::string& name : result.columns) columns.emplace_back(name);
  for (const std::vector<std::string>& row : result.rows) {
    json::object object;
    for (std::size_t i = 0; i < row.size(); ++i) object[result.columns[i]] = row[i];
    rows.push_back(std::move(object));
  }
  return json::serialize(
             json::value{{"columns", std::move(columns)}, {"rows", std::move(rows)}, {"truncated", result.truncated}}) +
         "\n";
}

}  // namespace koord::ui
