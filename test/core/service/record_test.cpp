// SPDX-License-Identifier: Apache-2.0
#include "core/service/record.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace koord;
using namespace koord::service;

namespace {

// Two versions of one record, as a plugin and a host of different versions declare it.
struct Old {
  std::uint32_t struct_size, a;
};
struct New {
  std::uint32_t struct_size, a;
  std::uint64_t b;
};

}  // namespace

TEST_CASE("a record of our own version comes in whole") {
  const New in{sizeof(New), 1, 2};
  CHECK(take_record<New>(&in, "record")->b == 2);
}

TEST_CASE("a record of an older plugin is filled up with zeros") {
  const struct {
    Old record;
    std::uint64_t not_its_own;
  } in{{sizeof(Old), 7}, ~0ull};
  const auto taken = take_record<New>(&in.record, "record");
  REQUIRE(taken);
  CHECK(taken->a == 7);
  CHECK(taken->b == 0);
}

TEST_CASE("a record of a newer plugin is taken when what we do not know is zero") {
  const New in{sizeof(New), 7, 0};
  CHECK(take_record<Old>(&in, "record")->a == 7);
}

TEST_CASE("acceptance 14: a record of a newer plugin that uses what we do not know is too new") {
  const New in{sizeof(New), 7, 1ull << 63};
  const auto taken = take_record<Old>(&in, "record");
  REQUIRE_FALSE(taken);
  CHECK(status_of(taken.error()) == KOORD_E_TOO_NEW);
  CHECK(why(taken.error()) == "record uses members that this host does not know, behind byte 8");
}

TEST_CASE("a record without a sensible size is refused before its tail is read") {
  for (std::uint32_t size : {0u, 3u, kMaxRecordBytes + 1, ~0u}) {
    const Old in{size, 0};
    CHECK(status_of(take_record<Old>(&in, "record").error()) == KOORD_E_INVALID);
  }
}

TEST_CASE("a record in an array is not longer than the stride") {
  const New in{sizeof(New), 7, 0};
  CHECK(take_record<New>(&in, "record", sizeof(New)));
  CHECK_FALSE(take_record<New>(&in, "record", sizeof(Old)));
}

TEST_CASE("a record that is NULL is refused by name") {
  CHECK(take_record<Old>(nullptr, "desc").error().message() == "desc is NULL");
}
