// SPDX-License-Identifier: Apache-2.0
#include "core/base/parse.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace std::chrono_literals;

TEST_CASE("a number is the whole text or an error that quotes it") {
  CHECK(*parse_uint("42") == 42);
  CHECK(*parse_int("-1") == -1);
  CHECK(parse_uint("-1").error().message() == "'-1' is not an unsigned integer");
  CHECK(parse_uint("12x").error().message() == "'12x' is not an unsigned integer");
  CHECK(parse_uint("").error().message() == "'' is not an unsigned integer");
  CHECK(parse_uint("18446744073709551616").error().message() ==
        "'18446744073709551616' is out of range, expected an unsigned integer");
}

TEST_CASE("a duration is written as Go writes it") {
  CHECK(*parse_duration("1h30m") == 90min);
  CHECK(*parse_duration("250ms") == 250ms);
  CHECK(*parse_duration("1.5s") == 1500ms);
  for (const char* bad : {"", "5", "s", "-1s", "1d", "1s2", "99999999999h"}) CHECK_FALSE(parse_duration(bad));
}

TEST_CASE("a formatted duration reads back as itself") {
  for (Duration d : {Duration(0), Duration(1), Duration(90min), Duration(1500ms), Duration(12h + 5us)}) {
    CHECK(*parse_duration(format_duration(d)) == d);
  }
}

TEST_CASE("a flat key is found by its whole name only") {
  constexpr std::string_view text = "anon_thp 1\nanon 4096\nfile 0\nbroken x\n";
  CHECK(find_flat_key(text, "anon") == 4096u);
  CHECK(find_flat_key(text, "file") == 0u);
  CHECK_FALSE(find_flat_key(text, "slab"));
  CHECK_FALSE(find_flat_key(text, "broken"));
}

TEST_CASE("nearest suggests a similar name, and none if no name is similar") {
  CHECK(nearest("nodName", {"nodeName", "roots"}) == "nodeName");
  CHECK(nearest("NodeResourceColector", {"NodeResourceCollector", "PSICollector"}) == "NodeResourceCollector");
  CHECK(nearest("zzz", {"nodeName", "roots"}).empty());
  CHECK(nearest("advisor-pod-resorce", {"advisor-pod-resource"}) == "advisor-pod-resource");
  CHECK(nearest("com.example.gauge", {"com.example.actor", "qos-cpu-suppress"}).empty());
  CHECK(nearest("com.example.guage", {"com.example.actor", "com.example.gauge"}) == "com.example.gauge");
  CHECK(nearest("zzz", {"zzz-", "zzz"}) == "zzz");
  CHECK(nearest("CAP_BFP", {"CAP_BPF", "CAP_KILL"}) == "CAP_BPF");
  CHECK(nearest("acme-gpu-collector", {"advisor-be-resource", "qos-cpu-burst"}).empty());
}
