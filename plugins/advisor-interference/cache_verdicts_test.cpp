// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cache_verdicts.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "plugins/advisor-interference/perf_counters.hpp"
#include "plugins/advisor-interference/verdict_text.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::interference;
using namespace koord::test;
using namespace std::chrono_literals;
using performance::GroupReading;

namespace {

constexpr std::size_t kLlcMisses = 2;

// Counters of two CPUs with known values. They exist for each container in the list.
class SyntheticCounters final : public CounterSource {
 public:
  struct Rate {
    double cpus = 0, cpi = 1, misses = 0;
    double running = 1;  // share of its time in which it had hardware counters
  };

  Result<std::vector<CounterTotals>> read(const std::vector<KnownContainer>& containers, double seconds) override {
    if (!error.empty()) return invalid(error);
    std::vector<CounterTotals> all;
    for (const KnownContainer& container : containers) {
      const auto rate = rates.find(container.handle);
      if (rate == rates.end()) continue;
      std::vector<GroupReading>& groups = totals_[container.handle];
      groups.resize(2, GroupReading{0, 0, {0, 0, 0}});
      for (GroupReading& group : groups) count(group, rate->second, seconds);
      all.push_back({container.handle, groups});
    }
    return all;
  }
  std::optional<std::size_t> llc_misses() const override { return kLlcMisses; }

  std::map<std::uint64_t, Rate> rates;
  std::string error;

 private:
  // Half of the container's time is spent on each of the CPUs, at 2 GHz.
  static void count(GroupReading& group, const Rate& rate, double seconds) {
    const double on_cpu = rate.cpus * seconds / 2, counted = on_cpu * rate.running;
    group.enabled_ns += static_cast<std::uint64_t>(on_cpu * 1e9);
    group.running_ns += static_cast<std::uint64_t>(counted * 1e9);
    group.counts[0] += static_cast<std::uint64_t>(counted * 2e9);
    group.counts[1] += static_cast<std::uint64_t>(counted * 2e9 / rate.cpi);
    group.counts[2] += static_cast<std::uint64_t>(counted * rate.misses);
  }

  std::map<std::uint64_t, std::vector<GroupReading>> totals_;
};

// A cart container and an etl container, from their counters to verdicts at the host.
struct CacheOnHost {
  CacheOnHost() {
    std::vector<state::Pod> pods(2);
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i].uid = pods[i].name = i == 0 ? "cart" : "etl";
    host.hub().publish({.pods = pods});
    cart = host.hub().current()->pods[0].handle;
    etl = host.hub().current()->pods[1].handle;
    begin();
  }

  void begin() {
    auto source = std::make_unique<SyntheticCounters>();
    counters = source.get();
    verdicts = std::make_unique<CacheVerdicts>(host.abi(), std::move(source), analysis::CacheRules{}, "suspected: test",
                                               metric);
  }
  std::vector<analysis::VerdictEvent> next(double cart_cpi, double etl_cpus) {
    const double noise = ++windows % 2 == 0 ? 0.02 : -0.02;
    counters->rates[cart] = {0.5, cart_cpi + noise, 1e6};
    counters->rates[etl] = {etl_cpus, 2, 1e7};
    host.clock().advance(5s);
    auto events = verdicts->collect(host.clock().now(), containers());
    verdicts->report(batch);
    batch.send(to_ns(host.clock().now()));
    return events;
  }
  void learn() {
    for (int i = 0; i < 730; ++i) REQUIRE(next(1, 0.05).empty());
  }
  std::vector<KnownContainer> containers() const {
    return {{cart, "shop/cart/app", "pods/cart/app"}, {etl, "batch/etl/main", "pods/etl/main"}};
  }
  service::Capability capability() { return *host.capabilities().find("verdict.cache", "test"); }
  std::string kept() { return plugin::Kv(host.abi()).get(CacheVerdicts::kKey).value_or(""); }

  FakeNode node;
  FakeHost host{node};
  plugin::Metric metric{host.abi(), {"container_interference", "ratio", "1: a verdict stands."}};
  plugin::Batch batch{host.abi()};
  std::uint64_t cart = 0, etl = 0;
  SyntheticCounters* counters = nullptr;
  std::unique_ptr<CacheVerdicts> verdicts;
  int windows = 0;
};

std::vector<analysis::CacheWindow> windows_of(CacheWindows& windows, std::vector<CounterTotals> totals) {
  std::vector<analysis::CacheWindow> all;
  for (const auto& subject : windows.next({{1, "a", "a"}, {2, "b", "b"}}, std::move(totals), 5))
    all.push_back(subject.window);
  return all;
}

}  // namespace

TEST_CASE("a window has the increase of the counters of all CPUs since the last reading, per second") {
  CacheWindows windows(kLlcMisses);
  windows_of(windows, {{1, {{0, 0, {0, 0, 0}}, {1'000'000'000, 1'000'000'000, {7, 7, 7}}}}});
  const auto window = windows_of(
      windows,
      {{1, {{2'000'000'000, 1'000'000'000, {1000, 500, 50}}, {2'000'000'000, 2'000'000'000, {1007, 507, 57}}}}})[0];
  CHECK(window.is_counted);
  CHECK(window.usage == doctest::Approx(0.6));
  // The first CPU had counters for only half of the time.
  CHECK(window.cycles == doctest::Approx(3000 / 5.0));
  CHECK(window.instructions == doctest::Approx(1500 / 5.0));
  CHECK(window.llc_misses == doctest::Approx(150 / 5.0));
  CHECK(windows.is_any_counted());
}

TEST_CASE("a container without counters now or before, with other CPUs, or with new counters has no window") {
  const CounterTotals one{1, {{100, 100, {10, 10, 10}}}};
  for (const auto& before : {std::vector<CounterTotals>{},
                             {{1, {{200, 200, {9, 9, 9}}}}},
                             {{1, {{50, 50, {1, 1, 1}}, {0, 0, {0, 0, 0}}}}}}) {
    CacheWindows windows(kLlcMisses);
    windows_of(windows, before);
    CHECK_FALSE(windows_of(windows, {one})[0].is_counted);
  }
  CacheWindows windows(kLlcMisses);
  windows_of(windows, {one});
  CHECK_FALSE(windows_of(windows, {})[0].is_counted);
  CHECK_FALSE(windows_of(windows, {one})[0].is_counted);
}

TEST_CASE("a container that did not run is counted, with no usage; one without hardware counters is not") {
  CacheWindows windows(kLlcMisses);
  windows_of(windows, {{1, {{100, 100, {1, 1, 1}}}}, {2, {{100, 0, {0, 0, 0}}}}});
  const auto now = windows_of(windows, {{1, {{100, 100, {1, 1, 1}}}}, {2, {{200, 0, {0, 0, 0}}}}});
  CHECK(now[0].is_counted);
  CHECK(now[0].usage == 0);
  CHECK_FALSE(now[1].is_counted);
  CHECK(windows.are_counters_taken());
}

TEST_CASE_FIXTURE(CacheOnHost, "counters of a container that another one slows down lead to a verdict at the host") {
  learn();
  CHECK(host.value("container_interference", {{"resource", "cache"}, {"pod_name", "cart"}}) == 0.0);
  std::vector<analysis::VerdictEvent> events;
  for (int i = 0; i < 8; ++i) events = next(1.5, 1.5);
  REQUIRE(events.size() == 1);
  const auto name_of = [&](std::uint64_t handle) { return handle == etl ? std::string("batch/etl/main") : ""; };
  const std::string text = describe(events[0].verdict, name_of);
  CAPTURE(text);
  CHECK(text.find("it takes 1.") == 0);
  CHECK(text.find(" cycles per instruction (usually 1.01, limit 1.11); rises with batch/etl/main (") !=
        std::string::npos);
  CHECK(text.find("% of the change, uses 1.5 CPUs); 1 of 1 windows; suspected") != std::string::npos);
  const auto standing = host.services().verdicts.standing()->records;
  REQUIRE(standing.size() == 1);
  const verdict::Record& record = *standing[0];
  CHECK(record.resource == verdict::Resource::cache);
  CHECK(record.method == verdict::Method::suspected);
  CHECK(record.statistic.unit == "cycles/instruction");
  CHECK(record.suspects.at(0).subject.handle == etl);
  CHECK(host.value("container_interference", {{"resource", "cache"}, {"pod_name", "cart"}}) == 1.0);
  for (int i = 0; i < 7; ++i) next(1, 0.05);
  CHECK(host.services().verdicts.standing()->records.empty());
  CHECK(host.value("container_interference", {{"resource", "cache"}, {"pod_name", "cart"}}) == 0.0);
}

TEST_CASE_FIXTURE(CacheOnHost,
                  "the baselines of cycles survive a restart of the agent, and a damaged record is left out") {
  learn();
  verdicts->stop(host.clock().now());
  CHECK(kept().find("shop/cart/app") != std::string::npos);
  begin();
  for (int i = 0; i < 125; ++i) next(1, 0.05);
  std::vector<analysis::VerdictEvent> events;
  for (int i = 0; i < 8; ++i) events = next(1.5, 1.5);
  CHECK(events.size() == 1);
  plugin::Kv(host.abi()).set(CacheVerdicts::kKey, "nonsense\n");
  begin();
  CHECK(next(1, 0.05).empty());
}

TEST_CASE_FIXTURE(CacheOnHost, "a stop before the first window keeps the stored record") {
  plugin::Kv(host.abi()).set(CacheVerdicts::kKey, "of an earlier agent\n");
  verdicts->stop(host.clock().now());
  CHECK(kept() == "of an earlier agent\n");
}

TEST_CASE_FIXTURE(CacheOnHost,
                  "counters that others use or that cannot be read make the capability broken while that lasts") {
  next(1, 0.05);
  CHECK(capability().state == service::CapabilityState::supported);
  counters->error = "cannot read";
  next(1, 0.05);
  CHECK(capability().state == service::CapabilityState::broken);
  CHECK(capability().detail == "cannot read");
  counters->error.clear();
  next(1, 0.05);
  CHECK(next(1, 0.05).empty());
  CHECK(capability().detail == "suspected: test");
}

TEST_CASE_FIXTURE(CacheOnHost, "a call before the end of a window of five seconds changes nothing") {
  next(1, 0.05);
  counters->error = "it is not read";
  for (int i = 0; i < 4; ++i) {
    host.clock().advance(1s);
    CHECK(verdicts->collect(host.clock().now(), containers()).empty());
  }
  CHECK(capability().state == service::CapabilityState::supported);
}

TEST_CASE("a node without counters, or with the setting off, has no verdicts about caches, and reports why") {
  FakeNode node({{"cgroup/cpu/", ""}, {"sys/devices/system/cpu/online", "0"}});
  FakeHost host(node);
  const plugin::Metric metric(host.abi(), {"container_interference", "ratio", "1: a verdict stands."});
  CHECK_FALSE(CacheVerdicts::open(host.abi(), node.roots(), {}, metric));
  const auto capability = [&] { return *host.capabilities().find("verdict.cache", "test"); };
  CHECK(capability().state == service::CapabilityState::absent);
  CHECK(capability().detail.find("neither a hierarchy with perf_event nor a unified one") != std::string::npos);
  CHECK_FALSE(CacheVerdicts::open(host.abi(), node.roots(), {.is_enabled = false}, metric));
  CHECK(capability().detail == "the setting cache.enabled is false");
}

TEST_CASE("the settings about caches have defaults, are read, and are refused if invalid") {
  const auto read = [](const std::string& json) {
    FakeNode node;
    FakeHost host(node, json);
    return read_cache_settings(plugin::Config(host.abi()));
  };
  CHECK(read("{}").rules.rule.correlation == 0.5);
  CHECK(read("{}").is_enabled);
  CHECK(read("{}").most_descriptors == PerfCounters::Limits().descriptors);
  const CacheSettings set = read(R"({"cache": {"enabled": false, "maxDescriptors": 64, "slowDownPercent": 10,
    "deviations": 3, "windows": 6, "windowsOver": 4, "clearAfter": "1m", "learnTime": "2h", "learnWindows": 50}})");
  CHECK_FALSE(set.is_enabled);
  CHECK(set.most_descriptors == 64);
  CHECK(set.rules.rule.slow_down == doctest::Approx(0.1));
  CHECK(set.rules.rule.of_them == 4);
  CHECK(set.rules.clear == 1min);
  CHECK(set.rules.baseline.learn_time == 2h);
  CHECK_THROWS_WITH(read(R"({"cache": {"clearAfter": "1s"}})"),
                    "cache.clearAfter is '1s', expected a time from 5s to 1h");
  CHECK_THROWS_WITH(read(R"({"cache": {"windows": 4}})"), "cache.windowsOver is 8, expected at most cache.windows, 4");
}
