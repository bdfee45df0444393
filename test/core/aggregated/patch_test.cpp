// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/patch.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "core/json/reader.hpp"

using namespace koord;
using namespace koord::aggregated;

namespace {

std::string merged(std::string_view target, std::string_view patch) {
  auto value = read_json(target).value();
  apply_merge_patch(value, read_json(patch).value());
  return boost::json::serialize(value);
}

std::string patched(std::string_view target, std::string_view patch) {
  auto value = read_json(target).value();
  const auto applied = apply_json_patch(value, read_json(patch).value());
  return applied ? boost::json::serialize(value) : "refused";
}

}  // namespace

TEST_CASE("a merge patch sets, replaces and removes members") {
  CHECK(merged(R"({"a":1})", R"({"b":2})") == R"({"a":1,"b":2})");
  CHECK(merged(R"({"a":{"b":1,"c":2}})", R"({"a":{"b":null}})") == R"({"a":{"c":2}})");
  CHECK(merged(R"({"a":[1,2]})", R"({"a":[3]})") == R"({"a":[3]})");
  CHECK(merged(R"({"a":1})", R"({"a":{"b":{"c":null}}})") == R"({"a":{"b":{}}})");
  CHECK(merged(R"({"a":1})", "[1]") == "[1]");
}

TEST_CASE("a JSON patch does the operations of RFC 6902") {
  CHECK(patched(R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])") == R"({"a":1,"b":2})");
  CHECK(patched(R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])") == R"({"a":[1,2,3]})");
  CHECK(patched(R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])") == R"({"a":[1,2]})");
  CHECK(patched(R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])") == R"({"b":2})");
  CHECK(patched(R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])") == R"({"a":[2]})");
  CHECK(patched(R"({"a":1})", R"([{"op":"replace","path":"/a","value":2}])") == R"({"a":2})");
  CHECK(patched(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])") == R"({"b":1})");
  CHECK(patched(R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])") == R"({"a":1,"b":1})");
  CHECK(patched(R"({"a":1})", R"([{"op":"test","path":"/a","value":1}])") == R"({"a":1})");
  CHECK(patched(R"({"a/b":1,"c~d":2})", R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/c~0d"}])") == "{}");
  CHECK(patched(R"({"a":1})", R"([{"op":"replace","path":"","value":[]}])") == "[]");
}

TEST_CASE("a JSON patch that does not apply is refused") {
  for (const char* patch : {
           R"({"op":"add"})",
           R"([1])",
           R"([{"op":"add","path":"/b"}])",
           R"([{"op":"add","path":"b","value":1}])",
           R"([{"op":"add","path":"/x/y","value":1}])",
           R"([{"op":"add","path":"/list/3","value":1}])",
           R"([{"op":"add","path":"/list/01","value":1}])",
           R"([{"op":"remove","path":"/x"}])",
           R"([{"op":"remove","path":"/list/-"}])",
           R"([{"op":"replace","path":"/x","value":1}])",
           R"([{"op":"test","path":"/a","value":2}])",
           R"([{"op":"move","from":"/map","path":"/map/inner"}])",
           R"([{"op":"copy","from":"/x","path":"/b"}])",
           R"([{"op":"grow","path":"/a","value":1}])",
       }) {
    CAPTURE(patch);
    CHECK(patched(R"({"a":1,"list":[1,2],"map":{}})", patch) == "refused");
  }
}

TEST_CASE("a JSON patch cannot double a value without end") {
  std::string patch = "[";
  for (int i = 0; i < 100; ++i) patch += R"({"op":"copy","from":"/a","path":"/a/-"},)";
  patch.back() = ']';
  CHECK(patched(R"({"a":["0123456789"]})", patch) == "refused");
}

TEST_CASE("a JSON patch cannot nest a value deeper than the parser allows") {
  std::string at = "/x", operations = R"([{"op":"add","path":"/x","value":{}})";
  for (std::size_t depth = 1; depth <= 4096; depth *= 2) {
    operations += R"(,{"op":"copy","from":"/x","path":")" + at + "/x\"}";
    for (std::size_t i = 0; i < depth; ++i) at += "/x";
  }
  CHECK(patched("{}", operations + "]") == "refused");
  std::string deep = "{}";
  for (std::size_t i = 1; i < kMaxJsonDepth - 2; ++i) deep = R"({"a":)" + deep + "}";
  const std::string target = R"({"a":)" + deep + R"(,"b":{"c":{"d":0}}})";
  for (const char* path : {"/b/c", "/b/c/d"}) {
    const bool fits = std::string_view(path) == "/b/c";
    for (const std::string& operation :
         {R"({"op":"copy","from":"/a","path":")" + std::string(path) + "\"}",
          R"({"op":"move","from":"/a","path":")" + std::string(path) + "\"}",
          R"({"op":"add","path":")" + std::string(path) + R"(","value":)" + deep + "}",
          R"({"op":"replace","path":")" + std::string(path) + R"(","value":)" + deep + "}"})
      CHECK((patched(target, "[" + operation + "]") != "refused") == fits);
  }
}
