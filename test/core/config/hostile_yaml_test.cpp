// SPDX-License-Identifier: Apache-2.0
// Hostile or broken files. Each is refused within a time limit, and none crashes the parser.
#include <doctest/doctest.h>

#include <string>

#include "core/config/json.hpp"
#include "core/config/load.hpp"
#include "core/config/yaml.hpp"

using namespace koord::config;

namespace {

std::string error_of(const std::string& text) {
  const koord::Result<Config> config = parse(text, "f");
  return config ? "" : config.error().message();
}

std::string repeat(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("a file above the bound is refused before it is parsed") {
  CHECK(error_of(std::string(YamlLimits().bytes + 1, '#')) == "there are more than 1048576 bytes at f");
}

TEST_CASE("deep nesting is refused, in flow and in block style") {
  CHECK(error_of(repeat("[", 65) + repeat("]", 65)) == "values are nested deeper than 64 at f:1:65");
  CHECK(error_of(repeat("[", 500'000)).starts_with("values are nested deeper than 64 at f:1:"));
  CHECK(error_of(repeat("{a: ", 200'000)).find("nested deeper") != std::string::npos);
  CHECK(error_of(repeat("- ", 70) + "x").find("nested deeper") != std::string::npos);
  CHECK(error_of(repeat("? ", 70) + "x").find("nested deeper") != std::string::npos);
}

TEST_CASE("nesting up to the bound is read") {
  CHECK(yaml_to_json(repeat("[", 64) + repeat("]", 64), "f"));
  CHECK(yaml_to_json(repeat("{a: ", 64) + "1" + repeat("}", 64), "f"));
}

TEST_CASE("an alias bomb is refused") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeat(last + ", ", 10) + "]\n";
  }
  CHECK(error_of(bomb).starts_with("aliases expand to more than 100000 values at f:"));
}

TEST_CASE("a value that contains itself is refused") {
  CHECK(error_of("a: &x [*x]") == "an alias stands inside the value it stands for at f:1:8");
  CHECK(error_of("&x {a: *x}").find("stands inside") != std::string::npos);
}

TEST_CASE("an alias without an anchor is refused") { CHECK(error_of("a: *x").starts_with("not valid YAML: ")); }

TEST_CASE("too many values are refused") {
  CHECK(error_of("[" + repeat("1,", 100'001) + "]").starts_with("there are more than 100000 values at f:1:"));
}

TEST_CASE("a flood of unknown keys is reported in a bounded text") {
  std::string flood;
  for (int i = 0; i < 20'000; ++i) flood += "zzzzzzzzz" + std::to_string(i) + ": 1\n";
  const std::string error = error_of(flood);
  CHECK(error.size() < 10'000);
  CHECK(error.ends_with("\nand 19950 more"));
}

TEST_CASE("a second document is refused") {
  CHECK(error_of("log: {}\n---\nlog: {}\n") == "a second document begins, expected one only at f:2:1");
}

TEST_CASE("tags of one's own are refused") {
  CHECK(error_of("nodeName: !secret x") == "the tag '!secret' is not supported at f:1:11");
  CHECK(error_of("log: !!python/object {}").find("is not supported") != std::string::npos);
}

TEST_CASE("a key that is not a name is refused") {
  CHECK(error_of("[a]: 1") == "a key is a sequence, expected a name at f:1:1");
  CHECK(error_of("? {a: b}\n: 1").starts_with("a key is a mapping, expected a name"));
  CHECK(error_of("~: 1") == "a key is nothing, expected a name at f:1:1");
}

TEST_CASE("merge keys are unknown keys") { CHECK(error_of("<<: {log: {}}").starts_with("unknown key '<<' at f:1:1")); }

TEST_CASE("bytes that are no text are refused or harmless") {
  CHECK(error_of(std::string("nodeName: \0x", 12)) != "");
  CHECK(error_of("\xff\xfe\x00") != "crash");
  CHECK(error_of("nodeName: \xff\xff") != "crash");
  CHECK(error_of(std::string(1000, '\0')) != "crash");
  CHECK(error_of("%YAML 9.9\n---\n{}") != "crash");
}
