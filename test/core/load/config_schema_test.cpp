// SPDX-License-Identifier: Apache-2.0
#include "core/load/config_schema.hpp"

#include "core/load/schema_check.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

using namespace koord;
using namespace koord::load;

namespace {

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {"limits": {"type": "object", "properties": {"cpu": {"type": "integer", "minimum": 1}}}}})";

std::string refusal(std::string_view schema, std::string_view config) {
  Result<void> fine = check_config(schema, config);
  return fine ? "accepted" : fine.error().message();
}

}  // namespace

TEST_CASE("a configuration that fits the schema is accepted") {
  CHECK(check_config(kSchema, R"({"limits": {"cpu": 2}})"));
  CHECK(check_config(kSchema, ""));
}

TEST_CASE("a plugin without a schema takes any object") {
  CHECK(check_config("", R"({"anything": [1, 2]})"));
  CHECK(refusal("", "[1]") == "configuration: expected an object");
}

TEST_CASE("a value of the wrong type is refused with its JSON pointer") {
  CHECK(refusal(kSchema, R"({"limits": {"cpu": "two"}})").starts_with("configuration: /limits/cpu: "));
}

TEST_CASE("an unknown key is refused with its name") {
  CHECK(refusal(kSchema, R"({"limit": {}})").find("limit") != std::string::npos);
}

TEST_CASE("a schema that refers to itself is refused before it is compiled") {
  CHECK(refusal(R"({"$ref": "#"})", "{}") == "config_schema: /$ref: '#' refers to itself");
  CHECK(refusal(R"({"properties": {"a": {"$ref": "#"}}})", "{}") ==
        "config_schema: /properties/a/$ref: '#' refers to itself");
  const char* two =
      R"({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"items": {"$ref": "#/definitions/a"}}}, "$ref": "#/definitions/a"})";
  CHECK(refusal(two, "{}").find("refers to itself") != std::string::npos);
  const char* above = R"({"definitions": {"a": {"properties": {"x": {"$ref": "#/definitions"}}}}})";
  CHECK(refusal(above, "{}").find("refers to itself") != std::string::npos);
}

TEST_CASE("a reference inside a schema that comes to an end is followed") {
  const char* schema =
      R"({"definitions": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/definitions/n"}, "b": {"$ref": "#/definitions/n"}}})";
  CHECK(check_config(schema, R"({"a": 1, "b": 2})"));
  CHECK(refusal(schema, R"({"a": "x"})").starts_with("configuration: /a: "));
}

TEST_CASE("a reference out of a schema, or to nothing, is refused") {
  for (const char* target :
       {"http://example.com/x", "other.json", "#anchor", "#/definitions/%61", "#/definitions/none"}) {
    CAPTURE(target);
    CHECK(refusal(R"({"properties": {"a": {"$ref": ")" + std::string(target) + R"("}}})", "{}")
              .starts_with("config_schema: /properties/a/$ref: '"));
  }
}

TEST_CASE("a schema that grows without bounds is refused") {
  std::string schema = R"({"$ref": "#/definitions/d0", "definitions": {)";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "{\"$ref\": \"#/definitions/d" + std::to_string(i + 1) + "\"}";
    schema += "\"d" + std::to_string(i) + "\": {\"anyOf\": [" + next + ", " + next + "]}, ";
  }
  schema += R"("d30": {"type": "integer"}}})";
  CHECK(refusal(schema, "{}").find("with its references replaced") != std::string::npos);
  CHECK(refusal(R"({"description": ")" + std::string(kMaxSchemaBytes, 'x') + R"("})", "{}")
            .starts_with("config_schema: "));
}

TEST_CASE("a pattern that may take forever to match is refused") {
  for (const char* pattern : {"^(a+)+$", "(a|a)*b", "((ab)*c)+", "(a*){2,}", "(x)\\\\1", "a{5000}", "([a-z]+|b)*"}) {
    CAPTURE(pattern);
    CHECK(refusal(R"({"properties": {"a": {"pattern": ")" + std::string(pattern) + R"("}}})", "{}")
              .find("the pattern '") != std::string::npos);
    CHECK(refusal(R"({"patternProperties": {")" + std::string(pattern) + R"(": {}}})", "{}").find("the pattern '") !=
          std::string::npos);
  }
  for (const char* pattern : {"^/", "^(http://|unix:/)", "^[a-zA-Z_]?[a-zA-Z0-9_]*$",
                              "^[^/.][^/]*(/mon_groups/[^/.][^/]*)?$", "^(ab)+$", "[+*(|]+x"}) {
    CAPTURE(pattern);
    CHECK(refusal(R"({"properties": {"a": {"pattern": ")" + std::string(pattern) + R"("}}})", "{}") == "accepted");
  }
}

TEST_CASE("a text that is too long to be matched is refused where the schema has patterns") {
  const std::string config = R"({"a": ")" + std::string(100'000, 'x') + R"("})";
  CHECK(refusal(R"({"properties": {"a": {"pattern": "^.*$"}}})", config).find("expected at most 4096") !=
        std::string::npos);
  CHECK(check_config(R"({"properties": {"a": {"type": "string"}}})", config));
}

TEST_CASE("an invalid schema is an error and not a crash") {
  CHECK(refusal("{", "{}").starts_with("config_schema: not JSON"));
  CHECK(refusal(R"({"type": 7})", "{}").starts_with("config_schema: "));
  CHECK(refusal(R"({"$ref": "http://example.org/schema"})", "{}").starts_with("config_schema: "));
}

TEST_CASE("a third party's schema is applied in a process of its own, with the same answers") {
  CHECK(check_config_in_child(kSchema, R"({"limits": {"cpu": 2}})"));
  CHECK(check_config_in_child("", "{}"));
  for (const auto& [schema, config] :
       {std::pair{kSchema, R"({"limits": {"cpu": "two"}})"}, {R"({"type": 7})", "{}"}, {"", "[1]"}}) {
    const Result<void> fine = check_config_in_child(schema, config);
    REQUIRE_FALSE(fine);
    CHECK(fine.error().message() == refusal(schema, config));
  }
}

// Each value of the configuration has thousands of errors, and the validator keeps a text for each.
TEST_CASE("a third party's schema that finds mountains of errors takes none of this process's memory") {
  std::string types, values;
  for (int i = 0; i < 3000; ++i) types += std::string(i > 0 ? "," : "") + R"({"type":"null"})";
  for (int i = 0; i < 1000; ++i) values += i > 0 ? ",1" : "1";
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = peak();
  const std::string schema = R"({"properties": {"ports": {"items": {"anyOf": [)" + types + "]}}}}";
  const Result<void> fine = check_config_in_child(schema, R"({"ports": [)" + values + "]}");
  REQUIRE_FALSE(fine);
  CHECK_MESSAGE(fine.error().message().starts_with("config_schema: "), fine.error().message());
  CHECK(peak() - before < 8 << 10);  // KiB
}
