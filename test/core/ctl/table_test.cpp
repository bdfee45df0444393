// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/table.hpp"

#include <doctest/doctest.h>

#include "core/ctl/format.hpp"

using namespace koord::ctl;

TEST_CASE("a table lines words up to the left and numbers to the right") {
  Table table({{"NAME"}, {"CPU", true}, {"WHY"}});
  table.add({"a", "10.5", "x"});
  table.add({"longer", "1", ""});
  CHECK(table.render() == "NAME     CPU  WHY\n"
                          "a       10.5  x\n"
                          "longer     1\n");
}

TEST_CASE("characters of several bytes take one column") {
  Table table({{"NAME"}, {"N", true}});
  table.add({"größe", "1"});
  table.add({"abcde", "2"});
  CHECK(table.render() == "NAME   N\ngröße  1\nabcde  2\n");
}

TEST_CASE("a line is cut at the terminal's width, never inside a character") {
  Table table({{"NAME"}});
  table.add({"größe"});
  CHECK(table.render(3) == "NAM\ngrö\n");
}

TEST_CASE("a control character in a cell cannot reach the terminal") {
  Table table({{"NAME"}});
  table.add({"a\x1b[2Jb\n"});
  table.add({"a\xC2\x9B"
             "2Jb"});
  CHECK(table.render() == "NAME\na?[2Jb?\na?2Jb\n");
}

TEST_CASE("numbers are printed with three figures and a unit, unknown ones as a dash") {
  CHECK(format_bytes(1536.0 * 1024 * 1024) == "1.50Gi");
  CHECK(format_bytes(512) == "512");
  // Halves are rounded to the even digit. The page of koordctl ui does the same.
  CHECK(format_bytes(1.125 * 1024 * 1024 * 1024) == "1.12Gi");
  CHECK(format_bytes(100.5 * 1024 * 1024) == "100Mi");
  CHECK(format_bytes(101.5 * 1024 * 1024) == "102Mi");
  CHECK(format_seconds(0.0000123) == "12.3us");
  CHECK(format_seconds(2.5) == "2.50s");
  CHECK(format_seconds(0) == "0");
  CHECK(format_cores(0.50349) == "0.503");
  CHECK(format_cores(std::nullopt) == "-");
  CHECK(format_wall_time(1'700'000'000) == "2023-11-14 22:13:20");
  CHECK(format_wall_time(1e300) == "-");
}
