// SPDX-License-Identifier: Apache-2.0
#include "core/ui/sql_json.hpp"

#include <doctest/doctest.h>

using namespace koord;

TEST_CASE("a result of SQL keeps the order of its columns, also without rows") {
  CHECK(ui::sql_json({.columns = {"b", "a"}, .rows = {{"1", "x"}}, .truncated = true}) ==
        "{\"columns\":[\"b\",\"a\"],\"rows\":[{\"b\":\"1\",\"a\":\"x\"}],\"truncated\":true}\n");
  CHECK(ui::sql_json({.columns = {"a"}}) == "{\"columns\":[\"a\"],\"rows\":[],\"truncated\":false}\n");
}

TEST_CASE("quotes and line ends in values of SQL are escaped") {
  CHECK(ui::sql_json({.columns = {"a"}, .rows = {{"\"\n"}}}) ==
        "{\"columns\":[\"a\"],\"rows\":[{\"a\":\"\\\"\\n\"}],\"truncated\":false}\n");
}

TEST_CASE("each of several columns with the same name has its own name and value") {
  CHECK(
      ui::sql_json({.columns = {"v", "v", "v:2", "v"}, .rows = {{"1", "2", "3", "4"}}}) ==
      "{\"columns\":[\"v\",\"v:2\",\"v:2:2\",\"v:3\"],\"rows\":[{\"v\":\"1\",\"v:2\":\"2\",\"v:2:2\":\"3\",\"v:3\":\"4\"}],"
      "\"truncated\":false}\n");
  ui::sql_json({.columns = std::vector<std::string>(100'000, "v")});  // this needs neither recursion nor quadratic time
}
