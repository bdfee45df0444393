// SPDX-License-Identifier: Apache-2.0
#include "core/ui/sql_json.hpp"

#include <boost/json.hpp>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace koord::ui {
namespace {

// Returns unique column names, because a row is an object.
std::vector<std::string> unique_names(const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  std::map<std::string, std::size_t> seen;
  for (const std::string& column : columns) {
    std::size_t& last = seen.try_emplace(column, 1).first->second;
    std::string name = column;
    while (!taken.insert(name).second) name = column + ":" + std::to_string(++last);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::string sql_json(const store::SqlResult& result) {
  namespace json = boost::json;
  const std::vector<std::string> names = unique_names(result.columns);
  json::array columns, rows;
  for (const std::string& name : names) columns.emplace_back(name);
  for (const std::vector<std::string>& row : result.rows) {
    json::object object;
    for (std::size_t i = 0; i < row.size(); ++i) object[names[i]] = row[i];
    rows.push_back(std::move(object));
  }
  return json::serialize(
             json::value{{"columns", std::move(columns)}, {"rows", std::move(rows)}, {"truncated", result.truncated}}) +
         "\n";
}

}  // namespace koord::ui
