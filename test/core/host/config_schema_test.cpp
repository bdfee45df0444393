// SPDX-License-Identifier: Apache-2.0
#include "core/host/config_schema.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::host;

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
  CHECK(refusal("", "[1]") == "configuration: wanted an object");
}

TEST_CASE("a value of the wrong type is refused with its JSON pointer") {
  CHECK(refusal(kSchema, R"({"limits": {"cpu": "two"}})").starts_with("configuration: /limits/cpu: "));
}

TEST_CASE("an unknown key is refused with its name") {
  CHECK(refusal(kSchema, R"({"limit": {}})").find("limit") != std::string::npos);
}

TEST_CASE("a schema that is none is an error and not a crash") {
  CHECK(refusal("{", "{}").starts_with("config_schema is not JSON"));
  CHECK(refusal(R"({"type": 7})", "{}").starts_with("config_schema: "));
  CHECK(refusal(R"({"$ref": "http://example.org/schema"})", "{}").starts_with("config_schema: "));
}
