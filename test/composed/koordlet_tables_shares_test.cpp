// SPDX-License-Identifier: Apache-2.0
// koordlet's tables of shared resources: last-level cache and bandwidth, memory throttling, page cache, CPU shares, and
// requests of production pods that could be lent.
#include "core/knob/knob.hpp"
#include "core/predict/predictors.hpp"
#include "plugins/qos-cgroup-reconcile/memory_qos.hpp"
#include "plugins/qos-resctrl/hardware.hpp"
#include "test/composed/koordlet_table.hpp"

using namespace koord;
using namespace std::chrono_literals;
using test::check_row;
using test::Expected;

namespace {

constexpr std::int64_t kMi = 1 << 20, kGi = std::int64_t{1} << 30;

std::string mask(std::uint64_t ways, std::int64_t begin, std::int64_t end) {
  return rdt::hexadecimal(
      rdt::mask_of({.mask = ways, .least_bits = 1, .takes_gaps = false, .ids = {0, 1}}, begin, end));
}

// Returns the weight in which v2 stores the shares, and the v1 shares for this weight.
std::string weight_of(std::int64_t shares) {
  const knob::Knob* knob = knob::find_knob("cpu.shares");
  return knob::encode(*knob, knob::parse_value(*knob, std::to_string(shares)).value(), cgroup::Version::v2).at(0);
}

}  // namespace

TEST_CASE("koordlet's table: the mask of a range of the last-level cache") {
  CHECK(mask(0x3ff, 10, 80) == "fe");
  CHECK(mask(0x7ff, 10, 50) == "3c");
  CHECK(mask(0x7ff, 0, 30) == "f");
  CHECK(mask(0xfff, 0, 30) == "f");
  CHECK(mask(0x7ff, 0, 100) == "7ff");
  check_row("a range within one part", mask(0x7ff, 1, 9),
            Expected<std::string>(
                "0", "2", {"qos-resctrl/README.md", "A narrow range gives the fewest parts that the CPU takes"}));
}

TEST_CASE("koordlet's table: memory bandwidth by vendor") {
  const rdt::Bandwidth intel{
      .unit = rdt::BandwidthUnit::percent, .least = 10, .step = 10, .unlimited = 100, .ids = {0}};
  const rdt::Bandwidth amd{.unit = rdt::BandwidthUnit::eighths, .least = 1, .step = 1, .unlimited = 2048, .ids = {0}};
  CHECK(rdt::bandwidth_of(intel, 90, 100) == 90);
  CHECK(rdt::bandwidth_of(intel, 85, 100) == 90);
  CHECK(rdt::bandwidth_of(amd, 80, 160) == 128);
  CHECK(rdt::bandwidth_of(amd, 100, 160) == 2048);
}

TEST_CASE("koordlet's table: memory.high of a request of 512 Mi and a limit of 1 Gi") {
  CHECK(cgroup_reconcile::memory_high(512 * kMi, kGi, 80, 4096) == 966'365'184);
  // koordlet writes the largest number, which means no throttling. Here no intent has the same meaning.
  CHECK(cgroup_reconcile::memory_high(512 * kMi, kGi, 0, 4096) == std::nullopt);
}

TEST_CASE("koordlet's table: the page cache of a pod with a limit of 1 Gi") {
  const auto cache = [](std::optional<std::int64_t> bytes) {
    slo::MemoryQos values;
    values.page_cache_limit_bytes = bytes;
    return cgroup_reconcile::page_cache_of(values, kGi);
  };
  using Cache = cgroup_reconcile::PageCache;
  CHECK(cache(512 * kMi) == Cache{.enable = true, .sync = false, .size = 512 * kMi});
  CHECK(cache(2 * kGi) == Cache{.enable = true, .sync = false, .size = kGi});
  CHECK(cache(0).enable == false);
  CHECK(cache({}) == Cache{});
}

TEST_CASE("koordlet's table: CPU shares as a weight of cgroup v2") {
  CHECK(weight_of(2) == "1");
  CHECK(weight_of(1024) == "39");
  CHECK(weight_of(2048) == "79");
  CHECK(weight_of(262'144) == "10000");
}

TEST_CASE("koordlet's table: while a parent's set changes, it is the union of the old and the new set") {
  const knob::Knob& cpus = *knob::find_knob("cpuset.cpus");
  const auto widest = [&](const char* now, const char* wanted) {
    return knob::spell(
        cpus, knob::widest(cpus, knob::parse_value(cpus, now).value(), knob::parse_value(cpus, wanted).value()));
  };
  CHECK(widest("0-3", "2-5") == "0-5");
  CHECK(widest("0-3", "1-2") == "0-3");
}

TEST_CASE(
    "koordlet's table: resources that production could lend, a known pod's request without 110 percent of its peak") {
  const Time now = Time(24h * 20'000);
  predict::Forecast forecast;
  state::Snapshot state;
  state.versions.pods = 1;
  state.node.allocatable = {{"cpu", 64'000}, {"memory", 256 * kGi}};
  const auto add = [&](const char* uid, std::int64_t milli, std::int64_t bytes, state::PriorityClass klass,
                       Duration learnt) {
    state::Pod pod;
    pod.uid = uid;
    pod.phase = state::Phase::running;
    pod.priority_class = klass;
    pod.resources = {{"cpu", milli, -1}, {"memory", bytes, -1}};
    state.pods.push_back(pod);
    predict::Percentiles peaks;
    peaks.p95.cpu_milli = 500;
    peaks.p98.memory_bytes = 768 * kMi;
    forecast.subjects[predict::pod_subject(uid)] = {now - learnt, now, 100, now + 30min, {}, peaks};
  };
  add("young", 1000, kGi, state::PriorityClass::prod, 1min);
  add("known", 2000, 2 * kGi, state::PriorityClass::prod, 2h);
  add("batch", 2000, 2 * kGi, state::PriorityClass::batch, 2h);
  const auto lent = predict::predict_prod(predict::Predictor::pod, forecast, state, {1h, 10}, now);
  REQUIRE(lent);
  CHECK(lent->reclaimable.cpu_milli == 2000 - 550);
  CHECK(lent->reclaimable.memory_bytes == 2 * kGi - static_cast<std::int64_t>(1.1 * 768 * kMi));
}
