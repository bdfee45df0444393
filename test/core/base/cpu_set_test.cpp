// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpu_set.hpp"

#include <doctest/doctest.h>

using koord::CpuSet;

TEST_CASE("a CPU list reads back in its shortest form") {
  CHECK(CpuSet::parse("0-3,8")->list() == "0-3,8");
  CHECK(CpuSet::parse("3,1,2,2-5\n")->list() == "1-5");
  CHECK(CpuSet::parse("63-64,127")->list() == "63-64,127");
}

TEST_CASE("an empty CPU list is the empty set") {
  CHECK(CpuSet::parse("")->empty());
  CHECK(CpuSet::parse("\n")->empty());
  CHECK(CpuSet().list().empty());
}

TEST_CASE("a damaged CPU list is refused with the part that is wrong") {
  CHECK(CpuSet::parse("0-x").error().message() == "CPU list: 'x' is not an unsigned integer");
  CHECK(CpuSet::parse("3-1").error().message() == "CPU list: range '3-1' runs backwards");
  for (const char* bad : {",", "1,", ",1", "-", "1-", "0-4000000000", "65536", "1 2"}) {
    CAPTURE(bad);
    CHECK_FALSE(CpuSet::parse(bad));
  }
}

TEST_CASE("CPU sets have the usual set operations") {
  CpuSet a = *CpuSet::parse("0-3"), b = *CpuSet::parse("2-5,100");
  CHECK((a | b) == *CpuSet::parse("0-5,100"));
  CHECK((a & b) == *CpuSet::parse("2-3"));
  CHECK((b - a) == *CpuSet::parse("4-5,100"));
  CHECK((b - b).empty());
  CHECK(a.includes(*CpuSet::parse("1,3")));
  CHECK_FALSE(a.includes(b));
  CHECK(b.size() == 5);
  CHECK(b.contains(100));
  CHECK_FALSE(b.contains(101));
  CHECK_FALSE(b.contains(1000));
}
