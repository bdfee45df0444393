// SPDX-License-Identifier: Apache-2.0
#include "core/base/byte_budget.hpp"

#include <doctest/doctest.h>

using namespace koord;

TEST_CASE("shares of a byte budget do not exceed it together, and the error names the bytes and the limit") {
  const auto budget = std::make_shared<ByteBudget>(100);
  ByteShare one(budget), other = one.sibling();
  CHECK(one.grow(60));
  const Result<void> grown = other.grow(41);
  REQUIRE_FALSE(grown);
  CHECK(grown.error().is(std::errc::not_enough_memory));
  CHECK(grown.error().text == "found 41 bytes in memory and 60 beside them, expected at most 100 together");
  CHECK(other.grow(40));
  CHECK(budget->used() == 100);
}

TEST_CASE("a share returns its bytes when it shrinks and when it ends, only once if it was moved") {
  const auto budget = std::make_shared<ByteBudget>(100);
  {
    ByteShare one(budget);
    CHECK(one.grow(80));
    one.shrink(30);
    CHECK(budget->used() == 50);
    const ByteShare moved = std::move(one);
    CHECK(moved.bytes() == 50);
    CHECK(budget->used() == 50);
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("after the limit was lowered, further bytes are refused and the held ones are kept") {
  const auto budget = std::make_shared<ByteBudget>(100);
  ByteShare share(budget);
  CHECK(share.grow(80));
  budget->set_limit(50);
  CHECK_FALSE(share.grow(1));
  CHECK(share.bytes() == 80);
  CHECK_FALSE(share.grow(UINT64_MAX));
}

TEST_CASE("a share without a budget has no limit") {
  ByteShare share;
  CHECK_FALSE(share.is_limited());
  CHECK(share.grow(UINT64_MAX));
}
