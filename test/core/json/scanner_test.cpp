// SPDX-License-Identifier: Apache-2.0
#include "core/json/scanner.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace koord;
using koord::JsonScanner;

namespace {

// Returns the text's only value as written, or the error.
std::string value_of(std::string_view text) {
  JsonScanner json(text);
  Result<std::string_view> value = json.value();
  if (!value) return value.error().message();
  if (Result<void> end = json.end(); !end) return end.error().message();
  return std::string(*value);
}

std::string text_of(std::string_view json) {
  auto text = JsonScanner(json).string();
  return text ? *text : text.error().message();
}

}  // namespace

TEST_CASE("a value is handed on byte for byte, without the space around it") {
  CHECK(value_of(" {\"a\" : [1, -2.5e+3 ,true,null ]} \n") == "{\"a\" : [1, -2.5e+3 ,true,null ]}");
  for (const char* text : {"0", "-0.0", "1e9", "\"\\u00e9\\n\"", "[]", "{}", "false", "[[],{}]"})
    CHECK(value_of(text) == text);
}

TEST_CASE("text that is not JSON is refused with the byte at which it is not") {
  for (const char* text :
       {"",        "{",           "[1,]",   "{\"a\"}", "{a:1}", "01",  "1.",  "-",          "+1", "tru", "\"a",
        "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[1 2]",   "{} {}", "nul", "'a'", "{\"a\":1,}", "1e", ".5"}) {
    CAPTURE(text);
    CHECK(value_of(text).starts_with("not the JSON that was expected: at byte "));
  }
  CHECK(value_of("[1 2]") == "not the JSON that was expected: at byte 3 found '2', expected ',' or ']'");
}

TEST_CASE("text nested deeper than 128 levels is refused") {
  CHECK(value_of(std::string(128, '[') + std::string(128, ']')).size() == 256);
  CHECK(value_of(std::string(129, '[') + std::string(129, ']')).ends_with("expected fewer levels"));
  CHECK(value_of(std::string(1'000'000, '[')).ends_with("expected fewer levels"));
}

TEST_CASE("a string is read without its escapes") {
  CHECK(text_of(R"("a\"\\\/\b\f\n\r\tb")") == "a\"\\/\b\f\n\r\tb");
  CHECK(text_of(R"("\u0041\u00e9\u20ac\ud83d\ude00")") == "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(text_of("null").empty());
}

TEST_CASE("half of a surrogate pair becomes the replacement character") {
  for (const char* text : {R"("\ud83d")", R"("\ude00")"}) CHECK(text_of(text) == "\xEF\xBF\xBD");
  CHECK(text_of(R"("\ud83dx")") == "\xEF\xBF\xBDx");
  CHECK(text_of(R"("\ud83d\u0041")") == "\xEF\xBF\xBD"
                                        "A");
}

TEST_CASE("members and items are visited in their order; null is like none") {
  std::vector<std::string> seen;
  JsonScanner text(R"({"a":[1,2],"b\u0063":null})");
  auto result = text.object([&](std::string_view key) -> Result<void> {
    seen.emplace_back(key);
    return text.array([&]() -> Result<void> {
      auto item = text.integer();
      if (!item) return std::move(item).error();
      seen.push_back(std::to_string(item->value_or(-1)));
      return {};
    });
  });
  REQUIRE(result);
  CHECK(seen == std::vector<std::string>{"a", "1", "2", "bc"});
}

TEST_CASE("a number that is not an integer of 64 bits is none") {
  CHECK(*JsonScanner("9223372036854775807").integer() == 9223372036854775807);
  for (const char* text : {"9223372036854775808", "1.0", "1e3", "null"})
    CHECK_FALSE(JsonScanner(text).integer()->has_value());
  CHECK_FALSE(JsonScanner("\"1\"").integer());
}

TEST_CASE("setting a member leaves all other bytes of an object as they are") {
  CHECK(*with_json_member(R"({"a": 1.50, "status":{"x":1},"b" :[ ]})", "status", "{\"y\":2}") ==
        R"({"a":1.50,"b":[ ],"status":{"y":2}})");
  CHECK(*with_json_member("{}", "a", "1") == R"({"a":1})");
  CHECK_FALSE(with_json_member("[]", "a", "1"));
  CHECK_FALSE(with_json_member("{} x", "a", "1"));
}

TEST_CASE("a member is found as it stands there, and null is like none") {
  CHECK(*json_member(R"({"a":{"b": 1},"c":null})", "a") == R"({"b": 1})");
  CHECK_FALSE(json_member(R"({"a":{"b": 1},"c":null})", "b")->has_value());
  CHECK_FALSE(json_member(R"({"c":null})", "c")->has_value());
}
