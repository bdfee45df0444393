// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/protobuf.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;
using namespace koord::nri;
using namespace std::string_literals;

namespace {

// The fields that the tests below read.
struct Values {
  std::uint64_t number = 0;
  std::string text;
  std::optional<std::int64_t> wrapped;
  std::vector<std::string> list;
  TextMap map;
};

Result<Values> read_values(std::string_view bytes, Budget budget = {}) {
  Reader in(bytes, budget);
  Values values;
  while (in.next()) {
    switch (in.field()) {
      case 1:
        values.number = in.uint64();
        break;
      case 2:
        in.read(values.text);
        break;
      case 3:
        in.read_wrapped(values.wrapped);
        break;
      case 4:
        in.read(values.list);
        break;
      case 5:
        in.read(values.map, [](std::string_view key) { return key != "unused"; });
        break;
      default:
        break;
    }
  }
  TRY(in.finish("Values"));
  return values;
}

template <class Write>
std::string written(const Write& write) {
  Writer out;
  write(out);
  return std::move(out).finish();
}

}  // namespace

TEST_CASE("numbers of one to ten bytes are read") {
  CHECK(read_values("\x08\0"s)->number == 0);
  CHECK(read_values("\x08\x7F")->number == 127);
  CHECK(read_values("\x08\x96\1")->number == 150);
  CHECK(read_values("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1")->number == ~std::uint64_t{0});
}

TEST_CASE("a present wrapper of zero is a value, an absent wrapper is not") {
  CHECK(read_values("\x1A\0"s)->wrapped == 0);
  CHECK(read_values("\x1A\2\x08\5")->wrapped == 5);
  CHECK(read_values("\x1A\x0B\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1")->wrapped == -1);
  CHECK_FALSE(read_values("")->wrapped);
}

TEST_CASE("unknown fields of every kind are skipped") {
  const std::string unknown = "\x78\x96\1"
                              "\x79"
                              "12345678"
                              "\x7A\3abc"
                              "\x7D"
                              "1234"
                              "\xFA\xFF\xFF\xFF\x0F\1x";
  const auto values = read_values(unknown + "\x12\2ok" + unknown);
  REQUIRE(values);
  CHECK(values->text == "ok");
}

TEST_CASE("an entry of a map with an unused key is dropped while it is read") {
  const auto values = read_values(written([](Writer& out) {
    out.map(5, {{"unused", "large"}, {"used", "1"}, {"", ""}});
  }));
  REQUIRE(values);
  CHECK(values->map == TextMap{{"", ""}, {"used", "1"}});
}

TEST_CASE("lists keep their order and their empty elements") {
  CHECK(read_values(written([](Writer& out) {
          out.texts(4, {"b", "", "a"});
        }))->list == std::vector<std::string>{"b", "", "a"});
}

TEST_CASE("damaged messages are errors that name the field") {
  struct Row {
    std::string bytes;
    const char* problem;
  };
  const Row rows[] = {
      {"\x08", "a number is cut off or too long"},
      {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1", "a number is cut off or too long"},
      {"\x12\5abc", "a value is cut off"},
      {"\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1", "a value is cut off"},
      {"\x7D"
       "123",
       "a value is cut off"},
      {"\0\1"s, "the number of a field is invalid"},
      {"\x13", "the kind of a value is unknown"},
      {"\x0A\1a", "not a number"},
      {"\x10\1", "not a text or message"},
      {"\x12\1\xFF", "a text is not UTF-8"},
      {"\x1A\2\x08\x80", "a number is cut off or too long"},
      {"\x2A\3\x0A\1\xFF", "a text is not UTF-8"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    const auto values = read_values(row.bytes);
    REQUIRE_FALSE(values);
    CHECK(values.error().message().starts_with("Values, field "));
    CHECK(values.error().message().ends_with(row.problem));
  }
}

TEST_CASE("a message with more elements than its budget is an error") {
  const std::string four = written([](Writer& out) {
    out.texts(4, {"", ""});
    out.map(5, {{"a", ""}, {"b", ""}});
  });
  CHECK(read_values(four, {.elements = 4}));
  CHECK(read_values(four, {.elements = 3}).error().message() == "Values, field 5: too many elements");
}

TEST_CASE("default values are not written, but wrappers of them are") {
  CHECK(written([](Writer& out) {
          out.number(1, 0);
          out.text(2, "");
          out.boolean(3, false);
          out.wrapped(4, std::optional<std::int64_t>());
        }) == "");
  CHECK(written([](Writer& out) { out.wrapped(4, std::optional<std::int64_t>(0)); }) == "\x22\0"s);
  CHECK(written([](Writer& out) { out.wrapped(4, std::optional<std::string>("")); }) == "\x22\0"s);
}

TEST_CASE("a negative number is written with ten bytes") {
  CHECK(written([](Writer& out) { out.wrapped(1, std::optional<std::int64_t>(-1)); }) ==
        "\x0A\x0B\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1");
}

TEST_CASE("a writer knows that a text in one of its messages is not UTF-8") {
  Writer out;
  out.message(1, [](Writer& inner) { inner.map(1, {{"key", "\xFF"}}); });
  CHECK_FALSE(out.is_valid());
  CHECK(Writer().is_valid());
}
