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

// Returns the text of the error if a limit is exceeded; else nothing, or "refused" for another error.
std::string refusal(std::string_view target, std::string_view patch) {
  auto value = read_json(target).value();
  const auto applied = apply_json_patch(value, read_json(patch).value());
  if (applied) return {};
  return applied.error().is(std::errc::value_too_large) ? applied.error().text : "refused";
}

std::string repeated(int times, const std::string& operations) {
  std::string patch = "[" + operations;
  for (int i = 1; i < times; ++i) patch += "," + operations;
  return patch + "]";
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
  CHECK(refusal(R"({"a":["0123456789"]})", repeated(100, R"({"op":"copy","from":"/a","path":"/a/-"})")) ==
        "the operations of a JSON patch may copy at most 4 MiB together");
}

TEST_CASE("a JSON patch cannot move a large value again and again, nor the entries of a long list") {
  std::string list = "[0";
  for (int i = 1; i < 100'000; ++i) list += ",0";
  const std::string target = R"({"a":)" + list + "]}";
  const std::string move = R"({"op":"move","from":"/a","path":"/b"},{"op":"move","from":"/b","path":"/a"})",
                    front = R"({"op":"remove","path":"/a/0"},{"op":"add","path":"/a/0","value":0})",
                    end = R"({"op":"remove","path":"/a/99999"},{"op":"add","path":"/a/-","value":0})";
  for (const std::string& operations : {move, front}) {
    CAPTURE(operations);
    CHECK(refusal(target, repeated(500, operations)) ==
          "the operations of a JSON patch may move at most 64 MiB together, entries of lists behind an inserted or "
          "removed one included");
    CHECK(refusal(target, repeated(10, operations)).empty());
  }
  CHECK(refusal(target, repeated(500, end)).empty());
}

TEST_CASE("a JSON patch has at most 10,000 operations") {
  const std::string test = R"({"op":"test","path":"/a","value":1})";
  CHECK(refusal(R"({"a":1})", repeated(10'000, test)).empty());
  CHECK(refusal(R"({"a":1})", repeated(10'001, test)) == "a JSON patch may have at most 10000 operations, found 10001");
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
