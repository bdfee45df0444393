// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "core/analysis/io_analysis.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Subject kDb = 1, kBulk = 2, kSmall = 3;
constexpr std::uint32_t kDisk = 254 << 20, kOther = 8 << 20;
constexpr double kUs = 1e-6, kMs = 1e-3;

// Returns the part of a subject: `requests` requests with a mean latency of `mean`.
IoPart part(Subject subject, double requests, double mean) {
  return {SuspectKind::container, subject, requests * mean, requests, 1e6};
}

// A stream of 400 reads/s that take 1 ms, 98 % of it because of a bulk writer; in quiet times they take 0.3 ms.
IoStream harmed() {
  return {.device = kDisk,
          .requests = 400,
          .mean = 1 * kMs,
          .p99 = 2 * kMs,
          .others = {part(kSmall, 8, 1 * kMs), part(kBulk, 392, 1 * kMs)}};
}

Finding judged(const IoStream& stream, QuietLatency quiet = {0.3 * kMs, 0.6 * kMs}) {
  return judge_io({.subject = kDb, .streams = {stream}}, {quiet});
}

IoStream quiet_stream(double mean = 0.3 * kMs) {
  return {.device = kDisk, .requests = 400, .mean = mean, .p99 = 2 * mean, .alone_requests = 400, .alone_mean = mean};
}

}  // namespace

TEST_CASE("a reader whose requests take longer behind those of a bulk writer is interfered with by it") {
  const Finding finding = judged(harmed());
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.method == Method::exact);
  CHECK(finding.statistic.name == "read_latency");
  CHECK(finding.statistic.value == doctest::Approx(1 * kMs));
  CHECK(finding.statistic.baseline == doctest::Approx(0.3 * kMs));
  CHECK(finding.statistic.threshold == doctest::Approx(0.8 * kMs));
  REQUIRE(finding.suspects.size() == 2);
  CHECK(finding.suspects[0].subject == kBulk);
  CHECK(finding.suspects[0].waited == doctest::Approx(392 * 0.7 * kMs));
  CHECK(finding.suspects[0].usage == doctest::Approx(1e6));
  CHECK(finding.suspects[1].waited == doctest::Approx(8 * 0.7 * kMs));
}

TEST_CASE("requests that are not 1.5 times as slow as in quiet times, or not 0.5 ms slower, are no harm") {
  struct {
    double quiet, mean;
    Kind kind;
  } rows[] = {{0.1 * kMs, 0.59 * kMs, Kind::none},
              {0.1 * kMs, 0.62 * kMs, Kind::interfered},
              {4 * kMs, 5.9 * kMs, Kind::none},
              {4 * kMs, 6.1 * kMs, Kind::interfered},
              {0, 6.1 * kMs, Kind::none}};
  for (const auto& row : rows) {
    IoStream stream = harmed();
    stream.mean = row.mean;
    stream.p99 = 0;
    stream.others = {part(kBulk, 400, row.mean)};
    CAPTURE(row.quiet);
    CAPTURE(row.mean);
    CHECK(judged(stream, {row.quiet, 0}).kind == row.kind);
  }
}

TEST_CASE("too few requests cause no verdict") {
  IoStream stream = harmed();
  stream.requests = 9;
  CHECK(judged(stream).kind == Kind::none);
}

TEST_CASE("requests that wait behind own requests, or behind nothing known, are no harm by others") {
  IoStream stream = harmed();
  stream.others = {part(kBulk, 100, 1 * kMs)};
  stream.own = part(0, 200, 1 * kMs);
  stream.unexplained = part(0, 100, 1 * kMs);
  CHECK(judged(stream).kind == Kind::none);
}

TEST_CASE("a few slow requests are harm by their p99, when most of the excess is of others") {
  IoStream stream = harmed();
  stream.mean = 0.4 * kMs;
  stream.p99 = 9 * kMs;
  stream.others = {part(kBulk, 5, 8 * kMs)};
  CHECK(judged(stream).kind == Kind::interfered);
  CHECK(judged(stream).statistic.name == "read_latency_p99");
  stream.own = part(0, 10, 8 * kMs);
  CHECK(judged(stream).kind == Kind::none);
  stream.own = {};
  stream.requests = 99;
  CHECK(judged(stream).kind == Kind::none);
}

TEST_CASE("the stream with the largest excess is the finding") {
  IoStream write = harmed();
  write.device = kOther;
  write.is_write = true;
  write.mean = 5 * kMs;
  write.others = {part(kSmall, 400, 5 * kMs)};
  const IoWindow window{.subject = kDb, .streams = {harmed(), write}};
  const std::vector<QuietLatency> quiet(2, {0.3 * kMs, 0});
  CHECK(judge_io(window, quiet).statistic.name == "write_latency");
  CHECK(worst_stream(window, quiet)->device == kOther);
}

TEST_CASE("a container that uses up its own limit is at fault itself") {
  IoWindow window{.subject = kDb, .streams = {harmed()}, .limit_used = 0.96};
  CHECK(judge_io(window, {{0.3 * kMs, 0}}).kind == Kind::self_quota);
  CHECK(judge_io(window, {{0.3 * kMs, 0}}).statistic.name == "io_limit_used");
  window.limit_used = 0.94;
  CHECK(judge_io(window, {{0.3 * kMs, 0}}).kind == Kind::interfered);
}

TEST_CASE("the quiet latency is the median of requests that met none of others, after ten windows") {
  IoBaseline baseline;
  for (int i = 0; i < 9; ++i) baseline.add(Time(i * 1s), quiet_stream((i + 1) * 100 * kUs), {});
  CHECK(baseline.quiet().mean == 0);
  baseline.add(Time(9s), quiet_stream(1 * kMs), {});
  CHECK(baseline.quiet().mean == doctest::Approx(500 * kUs).epsilon(0.06));
  CHECK(baseline.quiet().p99 == doctest::Approx(1 * kMs).epsilon(0.06));
}

TEST_CASE("requests beside those of others do not move the quiet latency") {
  IoBaseline baseline;
  for (int i = 0; i < 10; ++i) baseline.add(Time(i * 1s), quiet_stream(), {});
  IoStream busy = harmed();
  busy.alone_requests = 20;
  busy.alone_mean = 5 * kMs;
  for (int i = 10; i < 100; ++i) baseline.add(Time(i * 1s), busy, {});
  CHECK(baseline.quiet().mean == doctest::Approx(0.3 * kMs).epsilon(0.06));
}

TEST_CASE("a reader beside a bulk writer has a verdict after three windows, on the device, until that ends") {
  IoAnalysis analysis;
  int second = 0;
  const auto add = [&](const IoStream& stream) {
    return analysis.add(Time(++second * 1s), {{"shop/db", {.subject = kDb, .streams = {stream}}}});
  };
  for (int i = 0; i < 12; ++i) CHECK(add(quiet_stream()).empty());
  CHECK(add(harmed()).empty());
  CHECK(add(harmed()).empty());
  const auto events = add(harmed());
  REQUIRE(events.size() == 1);
  CHECK(events[0].verdict.suspects[0].subject == kBulk);
  CHECK(analysis.device_of(kDb) == kDisk);
  CHECK(analysis.standing().size() == 1);
  for (int i = 0; i < 11; ++i) add(quiet_stream());
  CHECK(analysis.standing().empty());
}

TEST_CASE("a workload without quiet times of its own is judged by those of the device, as an estimate") {
  IoAnalysis analysis;
  const auto window = [](Subject subject, const IoStream& stream) {
    return IoWindow{.subject = subject, .streams = {stream}};
  };
  for (int i = 0; i < 12; ++i) analysis.add(Time(i * 1s), {{"shop/web", window(kSmall, quiet_stream())}});
  for (int i = 12; i < 16; ++i) analysis.add(Time(i * 1s), {{"shop/db", window(kDb, harmed())}});
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.standing()[0].method == Method::estimated);
}

TEST_CASE("a container that has ended has no verdict and no device") {
  IoAnalysis analysis;
  for (int i = 0; i < 20; ++i)
    analysis.add(Time(i * 1s), {{"shop/db", {.subject = kDb, .streams = {i < 15 ? quiet_stream() : harmed()}}}});
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.add(Time(20s), {}).empty());
  CHECK(analysis.standing().empty());
  CHECK(analysis.device_of(kDb) == 0);
}

TEST_CASE("other rules hold from the next window on, and quiet latencies stay unless their own settings change") {
  IoAnalysis analysis;
  int second = 0;
  const auto add = [&](const IoStream& stream) {
    analysis.add(Time(++second * 1s), {{"shop/db", {.subject = kDb, .streams = {stream}}}});
  };
  for (int i = 0; i < 12; ++i) add(quiet_stream());
  for (int i = 0; i < 5; ++i) add(harmed());
  CHECK(analysis.standing().size() == 1);
  Rules rules;
  rules.io.excess = 10;
  const auto ended = analysis.set_rules(rules);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].change == Change::cleared);
  CHECK(ended[0].verdict.victim == kDb);
  for (int i = 0; i < 5; ++i) add(harmed());
  CHECK(analysis.standing().empty());
  analysis.set_rules({});
  for (int i = 0; i < 5; ++i) add(harmed());
  CHECK(analysis.standing().size() == 1);
  rules = {};
  rules.io.quiet_windows = 9;
  analysis.set_rules(rules);
  for (int i = 0; i < 5; ++i) add(harmed());
  CHECK(analysis.standing().empty());
  for (int i = 0; i < 9; ++i) add(quiet_stream());
  for (int i = 0; i < 5; ++i) add(harmed());
  CHECK(analysis.standing().size() == 1);
}
