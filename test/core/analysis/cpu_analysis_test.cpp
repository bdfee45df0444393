// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/analysis/cpu_analysis.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Subject kCart = 1, kEtl = 2;
const Time kBegin(1'000'000s);

CpuSubject service(double held_up, Subject subject = kCart) {
  CpuWindow window{.subject = subject, .run = 0.2, .wait = held_up, .usable_cpus = 2, .held_up = held_up};
  if (held_up > 0) window.others = {{SuspectKind::container, kEtl, held_up, 1}};
  return {"shop/cart/app", window};
}

CpuSubject hog() { return {"batch/etl/main", {.subject = kEtl, .run = 1.5, .usable_cpus = 2}}; }

}  // namespace

TEST_CASE(
    "a service beside a hog has a verdict after three windows, the hog none, and it is cleared after ten quiet ones") {
  CpuAnalysis analysis;
  std::vector<CpuAnalysis::Event> events;
  const auto add = [&](int second, double held_up) {
    for (CpuAnalysis::Event& event : analysis.add(kBegin + second * 1s, {service(held_up), hog()}))
      events.push_back(std::move(event));
  };
  for (int second = 0; second < 20; ++second) add(second, 0);
  CHECK(events.empty());
  for (int second = 20; second < 30; ++second) add(second, 0.05);
  REQUIRE(events.size() == 1);
  CHECK(events[0].change == Change::confirmed);
  CHECK(events[0].verdict.victim == kCart);
  CHECK(events[0].verdict.suspects[0].subject == kEtl);
  REQUIRE(analysis.verdicts().size() == 1);
  CHECK(analysis.verdicts()[0].windows_over == 10);
  for (int second = 30; second < 50; ++second) add(second, 0);
  REQUIRE(events.size() == 2);
  CHECK(events[1].change == Change::cleared);
  CHECK(events[1].verdict.windows_over == 10);
  CHECK(analysis.verdicts().empty());
}

TEST_CASE("containers of one workload share what is known of its quiet time") {
  CpuAnalysis analysis;
  for (int second = 0; second < 100; ++second) analysis.add(kBegin + second * 1s, {service(0.03)});
  // Its requests are always held up so long: a new one of the workload is not interfered with because of that.
  for (int second = 100; second < 110; ++second) {
    const auto events = analysis.add(kBegin + second * 1s, {service(0.03), service(0.03, 7)});
    for (const auto& event : events) CHECK(event.change != Change::confirmed);
  }
  CHECK(analysis.verdicts().empty());
}

TEST_CASE("a container that ends takes its verdict with it") {
  CpuAnalysis analysis;
  for (int second = 0; second < 5; ++second) analysis.add(kBegin + second * 1s, {service(0.05)});
  CHECK(analysis.verdicts().size() == 1);
  CHECK(analysis.add(kBegin + 5s, {}).empty());
  CHECK(analysis.verdicts().empty());
}
