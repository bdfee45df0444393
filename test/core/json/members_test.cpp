// SPDX-License-Identifier: Apache-2.0
#include "core/json/members.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"

using namespace koord;

namespace {

const boost::json::value kDocument = read_json(R"({
  "text": "a", "integer": 5, "whole": 5.0, "part": 5.5, "huge": 1e300, "flag": true, "list": [1, 2], "mapping": {"inner": "b"}, "nothing": null
})")
                                         .value();

}  // namespace

TEST_CASE("a member of the expected type is its value") {
  CHECK(json_text(kDocument, "text") == "a");
  CHECK(json_number(kDocument, "part") == 5.5);
  CHECK(json_number(kDocument, "integer") == 5);
  CHECK(json_integer(kDocument, "integer") == 5);
  CHECK(json_flag(kDocument, "flag"));
  CHECK(json_list(kDocument, "list").size() == 2);
  CHECK(json_text(json_mapping(kDocument, "mapping"), "inner") == "b");
}

TEST_CASE("a member that is missing, null or of another type is empty") {
  for (const char* key : {"missing", "nothing", "mapping"}) {
    CAPTURE(key);
    CHECK(json_text(kDocument, key).empty());
    CHECK_FALSE(json_number(kDocument, key));
    CHECK_FALSE(json_integer(kDocument, key));
    CHECK_FALSE(json_flag(kDocument, key));
    CHECK(json_flag(kDocument, key, true));
    CHECK(json_list(kDocument, key).empty());
  }
  CHECK(json_mapping(kDocument, "list").get_object().empty());
  CHECK(json_member(kDocument, "missing") == nullptr);
}

TEST_CASE("a value that is not a mapping has no members") {
  CHECK(json_text(boost::json::value("text"), "text").empty());
  CHECK(json_member(boost::json::value(nullptr), "text") == nullptr);
}

TEST_CASE("a mapping can be read as an object and as a value") {
  const boost::json::object& object = kDocument.get_object();
  CHECK(json_text(object, "text") == "a");
  CHECK(json_mapping(object, "mapping") == json_mapping(kDocument, "mapping"));
}

TEST_CASE("a number without a fraction is an integer, as the API server reads it") {
  CHECK(json_integer(kDocument, "whole") == 5);
  CHECK_FALSE(json_integer(kDocument, "part"));
  CHECK_FALSE(json_integer(kDocument, "huge"));
}

TEST_CASE("a mapping to fill is the one that is there, or a new one instead of anything else") {
  boost::json::object parent{{"a", {{"b", 1}}}, {"text", "c"}};
  mapping_to_fill(parent, "a")["d"] = 2;
  mapping_to_fill(parent, "text")["e"] = 3;
  mapping_to_fill(parent, "new");
  CHECK(boost::json::serialize(parent) == R"({"a":{"b":1,"d":2},"text":{"e":3},"new":{}})");
}
