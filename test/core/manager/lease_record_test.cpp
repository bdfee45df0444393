// SPDX-License-Identifier: Apache-2.0
#include "core/manager/lease_record.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;

TEST_CASE("a lease is read with its holder, times and version") {
  const auto record = parse_lease(R"({"metadata": {"name": "l", "resourceVersion": "7"}, "spec": {"holderIdentity": "a",
    "leaseDurationSeconds": 15, "leaseTransitions": 3, "acquireTime": "2026-01-02T03:04:05.000000Z",
    "renewTime": "2026-01-02T03:04:06.000000Z"}})");
  REQUIRE(record);
  CHECK(record->holder == "a");
  CHECK(record->duration == std::chrono::seconds(15));
  CHECK(record->transitions == 3);
  CHECK(record->renewed == "2026-01-02T03:04:06.000000Z");
  CHECK(record->resource_version == "7");
}

TEST_CASE("a lease without a spec, or with negative numbers, has no holder and no duration") {
  for (const char* text :
       {"{}", R"({"spec": null})", R"({"spec": {"leaseDurationSeconds": -5, "leaseTransitions": -1}})"}) {
    CAPTURE(text);
    const auto record = parse_lease(text);
    REQUIRE(record);
    CHECK(record->holder.empty());
    CHECK(record->duration == Duration::zero());
    CHECK(record->transitions == 0);
  }
}

TEST_CASE("an invalid lease is an error") {
  for (const char* text : {"", "[]", "{", R"({"spec": 1})", R"({"spec": {"holderIdentity": 5}})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_lease(text));
  }
}

TEST_CASE("a written lease keeps the parts of other writers") {
  auto record = *parse_lease(
      R"({"metadata": {"name": "l", "labels": {"a": "b"}, "resourceVersion": "7"}, "spec": {"strategy": "OldestEmulationVersion"}})");
  record.holder = "me";
  record.duration = std::chrono::seconds(6);
  const auto text = lease_json({"ns", "l"}, record);
  REQUIRE(text);
  CHECK(text->find(R"("labels":{"a":"b"})") != text->npos);
  CHECK(text->find(R"("resourceVersion":"7")") != text->npos);
  CHECK(text->find(R"("strategy":"OldestEmulationVersion")") != text->npos);
  CHECK(text->find(R"("holderIdentity":"me")") != text->npos);
  CHECK(text->find(R"("leaseDurationSeconds":6)") != text->npos);
}

TEST_CASE("times have six digits of a second") {
  CHECK(format_micro_time(1'767'323'045'678'901'234) == "2026-01-02T03:04:05.678901Z");
  CHECK(format_micro_time(1'767'323'045'000'000'000) == "2026-01-02T03:04:05.000000Z");
}

TEST_CASE("the greatest resource version is in an annotation, beside those of others") {
  auto record = *parse_lease(R"({"metadata": {"annotations": {"a": "b", "metrics.koordetector.sh/versions": "7"}}})");
  CHECK(record.versions == 7);
  record.versions = 1'700'000'000'000'000;
  const auto text = lease_json({"ns", "l"}, record);
  REQUIRE(text);
  CHECK(text->find(R"("a":"b")") != text->npos);
  CHECK(parse_lease(*text)->versions == 1'700'000'000'000'000);
}

TEST_CASE("an annotation that is not a number is no greatest version") {
  for (const char* text : {R"({"metadata": {"annotations": {"metrics.koordetector.sh/versions": "x"}}})",
                           R"({"metadata": {"annotations": {"metrics.koordetector.sh/versions": 7}}})",
                           R"({"metadata": {"annotations": 7}})", R"({"metadata": 7})", "{}"}) {
    CAPTURE(text);
    const auto record = parse_lease(text);
    if (record) CHECK(record->versions == 0);
  }
}
