// SPDX-License-Identifier: Apache-2.0
#include "core/json/writer.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "core/json/scanner.hpp"

using koord::json_quote;
using koord::JsonWriter;

TEST_CASE("an object has its members in the order of the calls") {
  JsonWriter json;
  json.begin_object().member("a", 1).member("b", "x").member("c", true).key(7).begin_object().end_object().end_object();
  CHECK(json.text() == R"({"a":1,"b":"x","c":true,"7":{}})");
}

TEST_CASE("an array has commas between its elements, not before or after them") {
  JsonWriter json;
  json.begin_array().begin_object().end_object().value(1).begin_array().end_array().value("y").end_array();
  CHECK(json.text() == R"([{},1,[],"y"])");
}

TEST_CASE("the largest numbers are written whole") {
  JsonWriter json;
  json.begin_array().value(UINT64_MAX).value(INT64_MIN).end_array();
  CHECK(json.text() == "[18446744073709551615,-9223372036854775808]");
}

TEST_CASE("quotes, backslashes and control characters are escaped, UTF-8 stays") {
  JsonWriter json;
  json.begin_object().member("a\"b\\", "tab\there \xc3\xa4").end_object();
  CHECK(json.text() == "{\"a\\\"b\\\\\":\"tab\\u0009here \xc3\xa4\"}");
}

TEST_CASE("a name that is not UTF-8 gives a text that is") {
  JsonWriter json;
  json.begin_array().value("mnt\xff\xc3").end_array();
  CHECK(json.text() == "[\"mnt\xef\xbf\xbd\xef\xbf\xbd\"]");
}

TEST_CASE("a quoted text reads back the same") {
  const std::string text = std::string("a\"\\\n\t\x01\x7f", 7) + '\0' + "\xC3\xA9";
  CHECK(*koord::JsonScanner(json_quote(text)).string() == text);
}
