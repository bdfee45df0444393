// SPDX-License-Identifier: Apache-2.0
#include "core/base/timestamp.hpp"

#include <doctest/doctest.h>

using namespace koord;

TEST_CASE("a timestamp has a zone and may have a fraction") {
  struct Row {
    const char* text;
    std::int64_t ns;
  };
  for (const Row& row :
       {Row{"1970-01-01T00:00:01Z", 1'000'000'000}, Row{"1970-01-01T00:00:01z", 1'000'000'000},
        Row{"1970-01-01T01:00:00.25+01:00", 250'000'000}, Row{"1969-12-31T22:29:59-01:30", -1'000'000'000},
        Row{"1969-12-31T23:59:59Z", -1'000'000'000}, Row{"2024-02-29T00:00:00Z", 1'709'164'800'000'000'000},
        Row{"1970-01-01T00:00:00.1234567899Z", 123'456'789}, Row{"2016-12-31T23:59:60Z", 1'483'228'800'000'000'000}}) {
    const Result<std::int64_t> ns = parse_timestamp(row.text);
    REQUIRE_MESSAGE(ns, row.text);
    CHECK_MESSAGE(*ns == row.ns, row.text);
  }
}

TEST_CASE("a text that is not a timestamp is quoted in the error") {
  for (const char* bad :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02T24:04:05Z",
        "2026-01-02T03:60:05Z", "2026-01-02T03:04:05.Z", "9999-01-02T03:04:05Z", "1677-01-02T03:04:05Z",
        "2026-01-02T03:04:05Zx", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+0100",
        "2026-1-2T3:4:5Z", "+026-01-02T03:04:05Z"}) {
    const Result<std::int64_t> ns = parse_timestamp(bad);
    REQUIRE_FALSE_MESSAGE(ns, bad);
    CHECK(ns.error().message() == "'" + std::string(bad) + "' is not a time such as '2026-01-02T03:04:05Z'");
  }
}

TEST_CASE("a time is written in UTC in four forms") {
  CHECK(format_timestamp(1'767'323'045) == "2026-01-02T03:04:05Z");
  CHECK(format_timestamp(-1) == "1969-12-31T23:59:59Z");
  CHECK(format_timestamp_for_file(1'767'323'045) == "20260102T030405Z");
  CHECK(format_timestamp_for_table(1'767'323'045) == "2026-01-02 03:04:05");
}

TEST_CASE("milliseconds have three digits, also before 1970") {
  CHECK(format_timestamp_ms(1'767'323'045'678) == "2026-01-02T03:04:05.678Z");
  CHECK(format_timestamp_ms(1'767'323'045'006) == "2026-01-02T03:04:05.006Z");
  CHECK(format_timestamp_ms(-1) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("a written time is read back") {
  for (std::int64_t seconds :
       {std::int64_t{0}, std::int64_t{-86'400}, std::int64_t{1'709'164'799}, std::int64_t{9'000'000'000}})
    CHECK(*parse_timestamp(format_timestamp(seconds)) == seconds * 1'000'000'000);
}
