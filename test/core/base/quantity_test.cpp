// SPDX-License-Identifier: Apache-2.0
#include "core/base/quantity.hpp"

#include <doctest/doctest.h>

#include <limits>

using koord::Quantity;

namespace {
std::int64_t value(const char* text) { return Quantity::parse(text)->value(); }
std::int64_t milli(const char* text) { return Quantity::parse(text)->milli(); }
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

TEST_CASE("text that is not a quantity is refused") {
  CHECK(Quantity::parse("1GB").error().message() == "'1GB' is not a quantity such as '100m', '1.5Gi' or '2'");
  for (const char* bad :
       {"", "-", ".", "m", "1 Gi", " 1", "1mi", "1e", "1e+", "1e--3", "e3", "1.2.3", "0x10", "+-1", "1e9999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(Quantity::parse(bad));
  }
}

TEST_CASE("a number larger than an int64 is refused") {
  for (const char* large :
       {"9223372036854775808", "8Ei", "10E", "1e19", "99999999999999999999999999999999999999999999"}) {
    CAPTURE(large);
    CHECK(Quantity::parse(large).error().message() == "quantity '" + std::string(large) + "' is out of range");
  }
}

TEST_CASE("every suffix and exponent stands for its power") {
  CHECK(*Quantity::parse("1000n") == *Quantity::parse("1u"));
  CHECK(*Quantity::parse("1000u") == *Quantity::parse("1m"));
  const std::int64_t thousand[] = {
      1'000, 1'000'000, 1'000'000'000, 1'000'000'000'000, 1'000'000'000'000'000, 1'000'000'000'000'000'000};
  const char* decimal[] = {"1k", "1M", "1G", "1T", "1P", "1E"};
  const char* exponent[] = {"1e3", "1E+6", "1e9", "1E12", "1e15", "1e18"};
  const char* binary[] = {"1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  for (int i = 0; i < 6; ++i) {
    CHECK(value(decimal[i]) == thousand[i]);
    CHECK(value(exponent[i]) == thousand[i]);
    CHECK(value(binary[i]) == std::int64_t{1} << (10 * (i + 1)));
  }
}

TEST_CASE("CPU is written in whole cores, or in milli-cores where there is a part of one") {
  CHECK(koord::format_decimal_milli(5230) == "5230m");
  CHECK(koord::format_decimal_milli(5000) == "5");
  CHECK(koord::format_decimal_milli(0) == "0");
  CHECK(koord::format_decimal_milli(-250) == "-250m");
  CHECK(koord::format_decimal_milli(2'000'000) == "2k");
  CHECK(koord::format_decimal_milli(std::numeric_limits<std::int64_t>::max()) == "9223372036854775807m");
}

TEST_CASE("memory is written with the largest binary suffix that loses nothing") {
  CHECK(koord::format_binary(12884901888) == "12Gi");
  CHECK(koord::format_binary(943718400) == "900Mi");
  CHECK(koord::format_binary(123456789) == "123456789");
  CHECK(koord::format_binary(1536) == "1536");
  CHECK(koord::format_binary(1024) == "1Ki");
  CHECK(koord::format_binary(-2048) == "-2Ki");
  CHECK(koord::format_binary(std::int64_t{7} << 60) == "7Ei");
  CHECK(koord::format_binary(1000) == "1k");
  CHECK(koord::format_binary(1023) == "1023");
}

TEST_CASE("whole numbers are written with the largest decimal suffix that loses nothing") {
  CHECK(koord::format_decimal(100) == "100");
  CHECK(koord::format_decimal(12000) == "12k");
  CHECK(koord::format_decimal(1500) == "1500");
  CHECK(koord::format_decimal(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
}
