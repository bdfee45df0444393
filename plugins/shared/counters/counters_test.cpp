// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/shared/counters/estimate.hpp"
#include "plugins/shared/counters/event_set.hpp"
#include "plugins/shared/counters/perf_hierarchy.hpp"
#include "plugins/shared/counters/rotation.hpp"
#include "test/support/fake_node.hpp"

using namespace koord::performance;
using koord::test::FakeNode;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr double kFloor = 0.05;

using Handles = std::vector<std::uint64_t>;

koord::Error kernel_error(int number) { return koord::system_error(number, "cannot count 'x' on CPU 0"); }

}  // namespace

TEST_CASE("a group's reading has its times and its counts, in the order of the events and not of the kernel") {
  const std::uint64_t ids[] = {71, 72};
  const std::uint64_t words[] = {2, 1000, 500, 22, 72, 11, 71};
  const auto reading = parse_group(words, ids);
  REQUIRE(reading);
  CHECK(reading->enabled_ns == 1000);
  CHECK(reading->running_ns == 500);
  CHECK(reading->counts == std::vector<std::uint64_t>{11, 22});
}

TEST_CASE("a group that lacks an event or is truncated gives no reading") {
  const std::uint64_t ids[] = {71, 72};
  const std::uint64_t other[] = {2, 1000, 500, 22, 72, 11, 73};
  const std::uint64_t fewer[] = {1, 1000, 500, 22, 72};
  CHECK_FALSE(parse_group(other, ids));
  CHECK_FALSE(parse_group(fewer, ids));
  CHECK_FALSE(parse_group({other, 6}, ids));
  CHECK_FALSE(parse_group({other, std::size_t{0}}, ids));
}

TEST_CASE("counts of all CPUs add up") {
  const GroupReading cpus[] = {{100, 100, {10, 1}}, {300, 300, {30, 3}}};
  const Estimate window = estimate(cpus, kFloor);
  CHECK(window.verdict == Verdict::counted);
  CHECK(window.counts == std::vector<double>{40, 4});
  CHECK(window.running_ratio == 1.0);
}

TEST_CASE("a group that had counters for part of the time is scaled to the whole time, separately on each CPU") {
  const GroupReading cpus[] = {{100, 100, {10}}, {100, 50, {10}}};
  const Estimate window = estimate(cpus, kFloor);
  CHECK(window.counts == std::vector<double>{30});
  CHECK(window.running_ratio == 0.75);
}

TEST_CASE("a cgroup without running threads is idle: it has no counts, not even zero, and no ratio") {
  const GroupReading cpus[] = {{0, 0, {0}}, {0, 0, {0}}};
  const Estimate window = estimate(cpus, kFloor);
  CHECK(window.verdict == Verdict::idle);
  CHECK_FALSE(window.count(0));
  CHECK_FALSE(window.running_ratio);
}

TEST_CASE("a group that never had counters gives no counts, and the ratio 0") {
  const GroupReading cpus[] = {{100, 0, {0}}, {0, 0, {0}}};
  const Estimate window = estimate(cpus, kFloor);
  CHECK(window.verdict == Verdict::not_scheduled);
  CHECK_FALSE(window.count(0));
  CHECK(window.running_ratio == 0.0);
}

TEST_CASE("counts from less time than the minimum are dropped, and their ratio is reported") {
  const GroupReading cpus[] = {{100, 4, {10}}};
  const Estimate window = estimate(cpus, kFloor);
  CHECK(window.verdict == Verdict::low_ratio);
  CHECK_FALSE(window.count(0));
  CHECK(window.running_ratio == 0.04);
}

TEST_CASE("a CPU below the minimum is compensated by the others if it had at most a twentieth of the time") {
  const GroupReading brief[] = {{950, 950, {95}}, {50, 0, {0}}};
  CHECK(estimate(brief, kFloor).count(0) == doctest::Approx(100));
  const GroupReading long_one[] = {{940, 940, {94}}, {60, 0, {0}}};
  CHECK(estimate(long_one, kFloor).verdict == Verdict::low_ratio);
}

TEST_CASE("the count since an earlier reading is the difference of each CPU, for times and counts") {
  const std::vector<GroupReading> before = {{100, 90, {10, 1}}, {0, 0, {0, 0}}};
  const std::vector<GroupReading> now = {{150, 130, {17, 3}}, {20, 20, {4, 4}}};
  const auto difference = since(now, before);
  REQUIRE(difference);
  CHECK((*difference)[0].enabled_ns == 50);
  CHECK((*difference)[0].running_ns == 40);
  CHECK((*difference)[0].counts == std::vector<std::uint64_t>{7, 2});
  CHECK((*difference)[1].counts == std::vector<std::uint64_t>{4, 4});
}

TEST_CASE("readings of other CPUs, of other events, or of restarted counters have no difference") {
  const std::vector<GroupReading> before = {{100, 90, {10, 1}}};
  CHECK_FALSE(since(std::vector<GroupReading>{{150, 130, {17, 3}}, {20, 20, {4, 4}}}, before));
  CHECK_FALSE(since(std::vector<GroupReading>{{150, 130, {17}}}, before));
  CHECK_FALSE(since(std::vector<GroupReading>{{50, 40, {17, 3}}}, before));
  CHECK_FALSE(since(std::vector<GroupReading>{{150, 130, {9, 3}}}, before));
}

TEST_CASE("a ratio with an unknown value or a zero divisor is unknown") {
  CHECK(ratio(6, 3) == 2.0);
  CHECK_FALSE(ratio(6, 0));
  CHECK_FALSE(ratio(std::nullopt, 3));
  CHECK_FALSE(ratio(6, std::nullopt));
}

TEST_CASE("a new container comes first, then the one that has waited longest") {
  CHECK(due({{1, 100}, {2, 50}, {3, {}}}, 100 + kMinute, kMinute) == Handles{3, 2, 1});
}

TEST_CASE("a container is due again after the interval, or a little earlier") {
  CHECK(due({{1, 0}}, 50 * kSecond, kMinute).empty());
  CHECK(due({{1, 0}}, 58 * kSecond, kMinute) == Handles{1});
}

TEST_CASE("with fewer places than containers, each container is measured in the same number of windows") {
  std::vector<Candidate> containers;
  for (std::uint64_t handle = 1; handle <= 6; ++handle) containers.push_back({handle, {}});
  std::vector<int> turns(7);
  for (std::uint64_t now = kMinute; now < kMinute + 90 * kSecond; now += 10 * kSecond) {
    const Handles order = due(containers, now, 10 * kSecond);
    for (std::size_t place = 0; place < 2; ++place) {
      ++turns[order[place]];
      containers[order[place] - 1].last_begin_ns = now;
    }
  }
  CHECK(turns == std::vector<int>{0, 3, 3, 3, 3, 3, 3});
}

TEST_CASE("descriptors are bounded, but one container is always admitted") {
  DescriptorBudget budget(100);
  CHECK(budget.admits(0, 40));
  CHECK(budget.admits(40, 40));
  CHECK_FALSE(budget.admits(80, 40));
  CHECK(budget.admits(0, 4000));
}

TEST_CASE("after a shortage of descriptors the budget is half of those that were open, and then grows step by step") {
  DescriptorBudget budget(800);
  budget.ran_short(400);
  CHECK(budget.now() == 200);
  budget.had_enough();
  CHECK(budget.now() == 300);
  for (int window = 0; window < 10; ++window) budget.had_enough();
  CHECK(budget.now() == 800);
}

TEST_CASE("libpfm4 encodes hardware and software events, with modifiers") {
  const auto encoded =
      encode_events({.cycles = "PERF_COUNT_HW_CPU_CYCLES:u", .further = {"PERF_COUNT_SW_PAGE_FAULTS"}});
  REQUIRE_MESSAGE(encoded, encoded.error().message());
  CHECK(encoded->cycles.type == 0);
  CHECK(encoded->cycles.exclude_kernel);
  CHECK_FALSE(encoded->instructions.exclude_kernel);
  CHECK(encoded->further[0].type == 1);
  CHECK(encoded->further[0].config == 2);
}

TEST_CASE("a name that libpfm4 does not know is an error that names it") {
  const auto encoded = encode_events({.cycles = "PERF_COUNT_HW_CPU_CIRCLES"});
  REQUIRE_FALSE(encoded);
  CHECK(encoded.error().message().find("'PERF_COUNT_HW_CPU_CIRCLES' is not an event") != std::string::npos);
}

TEST_CASE(
    "perf_event is searched in the v2 tree, in a v1 hierarchy, alone or with others, and in the tree of a hybrid") {
  const auto found_below = [](const FakeNode& node) {
    const std::string root = node.roots().cgroup;
    const auto found = find_perf_hierarchy(root);
    return found ? found->substr(root.size()) : found.error().message();
  };
  CHECK(found_below(FakeNode({{"cgroup/cgroup.controllers", ""}, {"cgroup/perf_event/", ""}})).empty());
  CHECK(found_below(FakeNode({{"cgroup/cpu/", ""}, {"cgroup/perf_event/", ""}})) == "/perf_event");
  CHECK(found_below(FakeNode({{"cgroup/net_cls,perf_event/", ""}})) == "/net_cls,perf_event");
  CHECK(found_below(FakeNode({{"cgroup/cpu/", ""}, {"cgroup/unified/cgroup.controllers", ""}})) == "/unified");
  CHECK(found_below(FakeNode({{"cgroup/cpu/", ""}})).find("perf_event") != std::string::npos);
}

TEST_CASE("a node without support is reported with a remedy; a shortage does not count as missing support") {
  CHECK(why_node_cannot(kernel_error(ENOENT))->find("virtual machines") != std::string::npos);
  CHECK(why_node_cannot(kernel_error(EACCES))->find("CAP_PERFMON") != std::string::npos);
  CHECK(why_node_cannot(kernel_error(EBADF))->find("not mounted") != std::string::npos);
  CHECK_FALSE(why_node_cannot(kernel_error(EMFILE)));
  CHECK_FALSE(why_node_cannot(kernel_error(EBUSY)));
}
