// SPDX-License-Identifier: Apache-2.0
#include "core/api/decision_request.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::api;
using namespace std::chrono_literals;

namespace {

const ManualClock kClock;

Result<decision::DecisionQuery> parse(const std::string& text) {
  return parse_decision_request(*http::parse_query(text), kClock);
}
Result<ModeRequest> parsed_mode(const std::string& text) { return parse_mode_request(*http::parse_query(text)); }

}  // namespace

TEST_CASE("decisions are asked for by pod, cgroup, kind, knob, plugin, result, time and page") {
  const auto query = *parse(
      "pod=shop/web&cgroup=kube&kind=mode&knob=cpu.max&plugin=burst&outcome=lost&since=100.5&until=200&before=7&limit=3");
  CHECK(query.pod == "shop/web");
  CHECK(query.cgroup == "kube");
  CHECK(query.kind == decision::DecisionKind::mode);
  CHECK(query.knob == "cpu.max");
  CHECK(query.plugin == "burst");
  CHECK(query.outcome == decision::Outcome::lost);
  CHECK(query.since_ns == 100'500'000'000);
  CHECK(query.until_ns == 200'000'000'000);
  CHECK(query.before == 7);
  CHECK(query.limit == 3);
}

TEST_CASE("without parameters the answer is the newest page, and a time may be relative to now") {
  CHECK(parse("")->limit == decision::DecisionQuery::kMostRecords);
  CHECK_FALSE(parse("")->outcome);
  CHECK(parse("since=10m")->since_ns == kClock.wall_ns() - 600'000'000'000);
}

TEST_CASE("a parameter that is wrong is named, with what is expected") {
  for (const auto& row : {std::pair("colour=red", "unknown parameter 'colour'"),
                          {"since=yesterday", "since 'yesterday' is neither"},
                          {"outcome=fine", "'fine' is not a result"},
                          {"kind=pod", "'pod' is not a kind of decision, expected one of knob, eviction, mode, hook"},
                          {"limit=1001", "limit '1001' is not a number from 1 to 1000"},
                          {"limit=0", "limit '0'"},
                          {"knob=cpu.mx", "'cpu.mx' is not a knob, did you mean 'cpu.max'?"},
                          {"before=-1", "before '-1'"}}) {
    CAPTURE(row.first);
    const auto& [text, wanted] = row;
    const auto query = parse(text);
    REQUIRE_FALSE(query);
    CHECK(query.error().message().find(wanted) != std::string::npos);
  }
}

TEST_CASE("a mode is set with its time, and reset to the configuration without") {
  CHECK(parsed_mode("mode=enforce&for=1h")->mode == koord::Mode::enforce);
  CHECK(parsed_mode("mode=enforce&for=1h")->how_long == 1h);
  CHECK_FALSE(parsed_mode("mode=configured")->mode);
  for (const char* wrong :
       {"", "mode=on&for=1h", "mode=off", "mode=off&for=soon", "mode=configured&for=1h", "mode=off&for=1h&why=x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parsed_mode(wrong));
  }
  CHECK(parsed_mode("mode=off&for=1").error().message() == "for '1' is not a duration, expected 1s to 168h");
}
