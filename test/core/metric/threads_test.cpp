// SPDX-License-Identifier: Apache-2.0
// Useful only with ThreadSanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "exposition_checker.hpp"
#include "fixture.hpp"

using namespace koord;
using namespace koord::metric;
using namespace koord::test;

namespace {

// Simulates a plugin: its containers appear, get values and disappear.
void live(Registry& registry, const std::string& owner, std::uint64_t first_handle) {
  auto id = registry.define(owner, gauge(owner + "_g"));
  for (std::uint64_t i = 0; i < 200; ++i) {
    std::uint64_t handle = first_handle + i;
    auto series = registry.series(owner, *id, container(handle, std::to_string(handle)));
    std::vector<Point> points(8, Point{*series, static_cast<double>(i)});
    (void)registry.record(owner, kNow, points);
    if (i % 2) registry.end_subject(handle);
  }
}

}  // namespace

TEST_CASE("owners record and end series while others read, and every text is a valid document") {
  Registry registry("n1");
  std::atomic<int> left = 3;
  std::vector<std::jthread> plugins;
  for (int i = 0; i < 3; ++i) {
    plugins.emplace_back([&registry, &left, i] {
      live(registry, "p" + std::to_string(i), static_cast<std::uint64_t>(i) * 1000 + 1);
      --left;
    });
  }
  std::string last;
  do {
    last = text(registry);
    std::size_t seen = 0;
    registry.for_each_series([&](const SeriesView&) { ++seen; });
    CHECK(seen <= 600);
  } while (left > 0);
  CHECK(read_exposition(text(registry)).error == "");
  CHECK(read_exposition(text(registry)).samples.size() == 300);
}
