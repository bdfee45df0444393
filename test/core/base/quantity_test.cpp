// SPDX-License-Identifier: Apache-2.0
#include "core/base/quantity.hpp"

#include <doctest/doctest.h>

#include <limits>

using koord::Quantity;

namespace {
std::int64_t value(const char* text) {
  return Quantity::parse(text)->value();
}
std::int64_t milli(const char* text) {
  return Quantity::parse(text)->milli();
}
}  // namespace

TEST_CASE("CPU quantities are exact in milli-cores") {
  CHECK(milli("100m") == 100);
  CHECK(milli("2") == 2000);
  CHECK(milli("0.1") == 100);
  CHECK(milli(".5") == 500);
  CHECK(milli("1.") == 1000);
  CHECK(milli("-250m") == -250);
}

TEST_CASE("memory quantities are exact in bytes") {
  CHECK(value("1Ki") == 1024);
  CHECK(value("1.5Gi") == 1610612736);
  CHECK(value("128974848") == 128974848);
  CHECK(value("129M") == 129000000);
  CHECK(value("0.7Ei") == 807045053224792884);
  CHECK(value("7Ei") == 8070450532247928832);
  CHECK(value("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("an exponent is not the suffix for exa") {
  CHECK(value("1e3") == 1000);
  CHECK(value("1E3") == 1000);
  CHECK(value("1E") == 1'000'000'000'000'000'000);
  CHECK(value("12e-1") == 2);
  CHECK(milli("12e-1") == 1200);
  CHECK(value("1e+2") == 100);
}

TEST_CASE("a part of the unit rounds away from zero") {
  CHECK(value("100m") == 1);
  CHECK(value("-100m") == -1);
  CHECK(milli("1u") == 1);
  CHECK(milli("0.0000000001") == 1);
  CHECK(milli("0") == 0);
  CHECK(value("1.00000000000000000000000000000000000000001") == 2);
}

TEST_CASE("equal quantities are equal however they are written") {
  CHECK(*Quantity::parse("1") == *Quantity::parse("1000m"));
  CHECK(*Quantity::parse("1Mi") == *Quantity::parse("1048576"));
}

TEST_CASE("milli-units that do not fit saturate") {
  CHECK(milli("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("what is not a quantity is refused") {
  CHECK(Quantity::parse("1GB").error().message() == "'1GB' is not a quantity such as '100m', '1.5Gi' or '2'");
  for (const char* bad : {"", "-", ".", "m", "1 Gi", " 1", "1mi", "1e", "1e+", "1e--3", "e3", "1.2.3", "0x10",
                          "+-1", "1e9999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(Quantity::parse(bad));
  }
}

TEST_CASE("what is larger than an int64 is refused") {
  for (const char* large :
       {"9223372036854775808", "8Ei", "10E", "1e19", "99999999999999999999999999999999999999999999"}) {
    CAPTURE(large);
    CHECK(Quantity::parse(large).error().message() ==
          "quantity '" + std::string(large) + "' is out of range");
  }
}
