// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "core/base/record.hpp"

using namespace koord;

namespace {

std::string sealed() {
  RecordWriter record;
  record << "name" << 1.0 / 3 << std::uint64_t{7} << Time(Duration(42));
  return record.line(1);
}

}  // namespace

TEST_CASE("the fields of a record read back as they were") {
  std::vector<std::string> problems = read_records(sealed(), [](std::string_view line) -> Result<void> {
    FieldReader fields(TRY(open_record(1, line)));
    CHECK(TRY(fields.text()) == "name");
    CHECK(TRY(fields.amount()) == 1.0 / 3);
    CHECK(TRY(fields.count(7)) == 7);
    CHECK(TRY(fields.time()) == Time(Duration(42)));
    CHECK(fields.at_end());
    CHECK_FALSE(fields.text());
    return {};
  });
  CHECK(problems.empty());
}

TEST_CASE("a record of another version, or with a changed byte, is refused") {
  std::string line = sealed();
  line.pop_back();
  CHECK(open_record(1, line));
  CHECK(open_record(2, line).error().message() == "it is not of version 2");
  line.back() ^= 1;
  CHECK(open_record(1, line).error().message() == "its checksum is wrong");
  CHECK_FALSE(open_record(1, "1"));
  CHECK_FALSE(open_record(1, ""));
}

TEST_CASE("numbers that are larger than they can be, negative or no numbers are refused") {
  CHECK_FALSE(FieldReader("8").count(7));
  CHECK_FALSE(FieldReader("-1").amount());
  CHECK_FALSE(FieldReader("inf").amount());
  CHECK_FALSE(FieldReader("nan").amount());
  CHECK_FALSE(FieldReader("9223372036854775807").whole());
  CHECK_FALSE(FieldReader("x").time());
}

TEST_CASE("a text with blanks, an empty or a long one cannot be a field") {
  CHECK(can_be_a_field("shop/cart/app"));
  CHECK_FALSE(can_be_a_field(""));
  CHECK_FALSE(can_be_a_field("a b"));
  CHECK_FALSE(can_be_a_field("a\n"));
  CHECK_FALSE(can_be_a_field(std::string(kMaxFieldBytes + 1, 'a')));
}

TEST_CASE("ten problems are named, the others counted") {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "broken\n";
  const auto problems =
      read_records(text, [](std::string_view line) { return Result<void>(open_record(1, line).error()); });
  REQUIRE(problems.size() == 11);
  CHECK(problems[0] == "line 1: it ends too early");
  CHECK(problems[10] == "and 2 more lines");
}
