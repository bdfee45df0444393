// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/run_view.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::ctl;

namespace {

workshop::RunReport with_histogram(std::vector<std::uint64_t> cumulative, double sum) {
  workshop::RunReport report;
  report.series.push_back(
      {"wait_seconds", "seconds", {}, static_cast<double>(cumulative.back()), {0.1, 1, 10}, cumulative, sum});
  return report;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a histogram is shown by its count, mean, quantiles and the buckets that have samples") {
  const std::string text = tables_of(with_histogram({0, 15, 19, 20}, 30));
  INFO(text);
  CHECK(contains(text, "20 samples, mean 1.5, p50 <= 1, p99 <= +Inf: <=1 15 <=10 4 +Inf 1"));
  CHECK(contains(tables_of(with_histogram({0, 0, 0, 0}, 0)), "0 samples"));
}

TEST_CASE("each field of a hook is shown with the knob by which the host keeps it, or that only a creation has it") {
  workshop::RunReport report;
  const workshop::RunAdjustment of_web{"tiers", "PreCreateContainer", "shop/web", "main", "linux.cpu.shares", "512"};
  report.adjustments = {of_web, of_web, of_web};
  report.adjustments[1].field = "env:TIER";
  report.adjustments[2].field = "reject";
  report.notes = {"other set no field"};
  const std::string text = tables_of(report);
  INFO(text);
  CHECK(contains(text, "linux.cpu.shares  512    cpu.shares"));
  CHECK(contains(text, "env:TIER          512    at a creation only"));
  CHECK(contains(text, "reject            512    refuses the creation"));
  CHECK(contains(text, "\nother set no field\n"));
  CHECK(contains(json_of(report), R"("field":"linux.cpu.shares","value":"512","knob":"cpu.shares")"));
}

TEST_CASE("a histogram in JSON has its bounds, cumulative counts and sum") {
  const std::string text = json_of(with_histogram({0, 15, 19, 20}, 30));
  INFO(text);
  CHECK(contains(text, R"("cumulative":[0,15,19,20])"));
  CHECK(contains(text, R"("bounds":[)"));
  CHECK(contains(text, R"("sum":3E1)"));
}
