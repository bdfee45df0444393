// SPDX-License-Identifier: Apache-2.0
#include "core/json/reader.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

using namespace koord;

namespace {

std::string read(std::string_view text) {
  const auto value = read_json(text);
  return value ? boost::json::serialize(*value) : value.error().message();
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

}  // namespace

TEST_CASE("a text is read with space around it") {
  CHECK(read(" {\"a\": [1, -2.5, true, null, \"\\u00e9\"]}\n") == "{\"a\":[1,-2.5E0,true,null,\"\u00e9\"]}");
}

TEST_CASE("a text that is not JSON is refused with the byte at which it is not") {
  CHECK(read("") == "not JSON: incomplete JSON at byte 0");
  CHECK(read("{\"a\": 1") == "not JSON: incomplete JSON at byte 7");
  CHECK(read("[1 2]").ends_with(" at byte 3"));
  CHECK(read("{} {}") == "not JSON: extra data at byte 3");
  for (const char* text : {"[1,]", "{a:1}", "01", "'a'", "nul", "// x\n1", "NaN"})
    CHECK_MESSAGE(read(text).starts_with("not JSON: "), text);
}

TEST_CASE("text that is not UTF-8 is refused") { CHECK(read("\"\xff\"").starts_with("not JSON: ")); }

TEST_CASE("a number that no double can hold is refused, as in Go") {
  CHECK(read("[1e308]") == "[1E308]");
  CHECK(read(R"({"a":[1,-1e999]})") == "found a number above 1.8e308, expected one that a double can hold");
}

TEST_CASE("64 levels are read and the 65th is refused, in lists and in mappings") {
  CHECK(read(nested(64)) == nested(64));
  CHECK(read(nested(65)) == "not JSON: nested deeper than 64 levels");
  CHECK(read(std::string(1'000'000, '[')) == "not JSON: nested deeper than 64 levels");
  std::string mappings;
  for (int i = 0; i < 65; ++i) mappings += "{\"a\":";
  CHECK(read(mappings) == "not JSON: nested deeper than 64 levels");
}

TEST_CASE("a text above the limit is refused before it is read") {
  CHECK(read_json("[1]", 3));
  CHECK(read_json("[1] ", 3).error().message() == "found 4 bytes, expected at most 3");
}

TEST_CASE("the last of two members with one name counts") {
  CHECK(read(R"({"a":1,"b":2,"a":3})") == R"({"a":3,"b":2})");
}

TEST_CASE("a text that has to be a mapping is refused with what was found") {
  CHECK(read_json_object(R"({"a":1})")->size() == 1);
  CHECK(read_json_object("[]").error().message() == "expected a mapping, found a list");
  CHECK(read_json_object("\"x\"").error().message() == "expected a mapping, found text");
  CHECK(read_json_object("null").error().message() == "expected a mapping, found nothing");
  CHECK(read_json_object("{").error().message() == "not JSON: incomplete JSON at byte 1");
}
