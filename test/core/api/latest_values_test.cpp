// SPDX-License-Identifier: Apache-2.0
#include "core/api/latest_values.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::api;
using namespace std::chrono_literals;

namespace {

host::PluginStatus plugin(const char* id, Duration period) {
  host::PluginStatus status;
  status.id = id;
  status.period = period;
  return status;
}

// A gauge of an owner. The test reads it at a given age.
struct Table {
  void record(const std::string& owner, const std::string& metric, Time at) {
    const std::uint32_t id = registry.define(owner, {.name = metric, .help = "A value."}).value();
    const metric::SeriesId series = registry.series(owner, id, {}).value();
    const metric::Point point{series, 7};
    REQUIRE(registry.record(owner, at, {&point, 1}));
  }
  bool shows(const std::string& metric, Time now) {
    const LatestValues values =
        latest_values(registry, now, two_periods({plugin("fast", 1s), plugin("slow", 10s), plugin("hook", 0s)}));
    auto node = values.find(0);
    return node != values.end() && node->second.contains(metric);
  }

  metric::Registry registry;
};

}  // namespace

TEST_CASE("a value is shown for two periods of the plugin that measures it, and no longer") {
  Table table;
  const Time at = Time(1000s);
  table.record("fast", "node_fast", at);
  table.record("slow", "node_slow", at);
  CHECK(table.shows("node_fast", at + 2s));
  CHECK_FALSE(table.shows("node_fast", at + 2001ms));
  CHECK(table.shows("node_slow", at + 20s));
  CHECK_FALSE(table.shows("node_slow", at + 21s));
}

TEST_CASE("a value of an owner without ticks is shown for a minute") {
  Table table;
  const Time at = Time(1000s);
  table.record("hook", "node_hook", at);
  CHECK(table.shows("node_hook", at + 1min));
  CHECK_FALSE(table.shows("node_hook", at + 61s));
}

TEST_CASE("a value carries its time") {
  Table table;
  table.record("fast", "node_fast", Time(1000s));
  const LatestValues values = latest_values(table.registry, Time(1001s), two_periods({plugin("fast", 1s)}));
  CHECK(values.at(0).at("node_fast").value == 7);
  CHECK(values.at(0).at("node_fast").time == Time(1000s));
}
