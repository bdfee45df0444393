// SPDX-License-Identifier: Apache-2.0
#include "core/manager/fresh_condition.hpp"

#include <doctest/doctest.h>

using namespace koord::manager;

namespace {

constexpr std::int64_t kAt = 1'790'000'000;  // 2026-09-21T14:13:20Z
constexpr const char* kFresh =
    R"({"type":"Fresh","status":"True","reason":"Reported","message":"the report is current","lastTransitionTime":"2026-09-21T14:13:20Z"})";

std::string with(const std::string& conditions) { return R"({"updateTime":"t","conditions":[)" + conditions + "]}"; }

}  // namespace

TEST_CASE("each report gets the condition Fresh; its time stays while it is true") {
  const std::string first = with_report_fresh(R"({"updateTime":"t"})", "", kAt);
  CHECK(first == with(kFresh));
  CHECK_FALSE(lacks_report(first));
  CHECK(with_report_fresh(R"({"updateTime":"t"})", first, kAt + 60) == first);
  CHECK(with_report_fresh("{}", first, kAt + 60) == R"({"conditions":[)" + std::string(kFresh) + "]}");
  CHECK(with_report_fresh("", first, kAt) == "");
}

TEST_CASE("a node without a report and one that reports again get a new time") {
  const std::string stale = with_report_missing(with(kFresh), 16, kAt + 60);
  CHECK(stale.find(R"("status":"False")") != stale.npos);
  CHECK(stale.find("14:14:20Z") != stale.npos);
  CHECK(lacks_report(stale));
  const std::string again = with_report_fresh(R"({"updateTime":"t"})", stale, kAt + 120);
  CHECK_FALSE(lacks_report(again));
  CHECK(again.find("14:15:20Z") != again.npos);
  CHECK(with_report_missing("", 16, kAt) == "");
}

TEST_CASE("a client cannot state itself that its report is fresh, nor since when") {
  const std::string other = R"({"type":"Other","status":"True"})";
  const std::string forged = R"({"type":"Fresh","status":"False","lastTransitionTime":"1999-01-01T00:00:00Z"})";
  CHECK(with_report_fresh(with(forged + "," + other + "," + forged), "", kAt) == with(other + "," + kFresh));
  CHECK(with_report_fresh(with(forged), with(kFresh), kAt + 60) == with(kFresh));
  CHECK(with_report_fresh(R"({"conditions":null,"updateTime":"t"})", "", kAt) == with(kFresh));
  // Conditions of a device are not conditions of the report, at any place.
  const std::string device = R"({"nodeMetric":{"devices":[{"conditions":[)" + forged + "]}]}}";
  CHECK(with_report_fresh(device, device, kAt) ==
        device.substr(0, device.size() - 1) + R"(,"conditions":[)" + kFresh + "]}");
}

TEST_CASE("the condition Fresh is put beside others, and keeps its time while its value stays") {
  constexpr std::int64_t kNow = 1'790'000'000;
  const auto stale =
      with_fresh_condition(R"({"updateTime":"t","conditions":[{"type":"Other","status":"True"}]})", 16, kNow);
  REQUIRE(stale);
  CHECK(
      *stale ==
      R"({"updateTime":"t","conditions":[{"type":"Other","status":"True"},{"type":"Fresh","status":"False","reason":"NoReport",)"
      R"("message":"no report for 16 s","lastTransitionTime":"2026-09-21T14:13:20Z"}]})");
  const auto later = with_fresh_condition(*stale, 30, kNow + 60);
  REQUIRE(later);
  CHECK(later->find(R"("no report for 30 s","lastTransitionTime":"2026-09-21T14:13:20Z")") != std::string::npos);
  const auto fresh = with_fresh_condition(*later, std::nullopt, kNow + 60);
  REQUIRE(fresh);
  CHECK(
      fresh->find(
          R"("status":"True","reason":"Reported","message":"the report is current","lastTransitionTime":"2026-09-21T14:14:20Z")") !=
      std::string::npos);
  CHECK_FALSE(with_fresh_condition("[]", std::nullopt, kNow));
}

TEST_CASE("a flood of conditions is cut, and one that is not a mapping is kept as it is") {
  std::string many = R"({"conditions":[7)";
  for (int i = 0; i < 1000; ++i) many += R"(,{"type":"T","status":"True"})";
  const auto status = with_fresh_condition(many + "]}", std::nullopt, 0);
  REQUIRE(status);
  CHECK(status->size() < 1000);
}
