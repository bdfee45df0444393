// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-throttled/pod_throttled.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::pod_throttled;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::int64_t kAbsent = CpuStat::kAbsent;

ThrottleMeter meter() { return ThrottleMeter(20 * kSecond); }

constexpr const char* kV2 = "usage_usec 9\nnr_periods 100\nnr_throttled 40\nthrottled_usec 2500000\n";
constexpr const char* kV2Later = "usage_usec 9\nnr_periods 110\nnr_throttled 45\nthrottled_usec 3000000\n";

void publish_pod(FakeHost& host) {
  koord::state::Pod pod;
  pod.uid = pod.name = "pod1";
  pod.cgroup_dir = "kubepods/pod1";
  pod.containers.push_back({.id = "containerd://c1", .name = "web", .cgroup_dir = "kubepods/pod1/c1"});
  host.hub().publish({.pods = std::vector{pod}});
}

}  // namespace

TEST_CASE("the ratio is throttled periods divided by periods since the previous reading") {
  ThrottleMeter throttle = meter();
  CHECK_FALSE(throttle.ratio({100, 50, 0}, kSecond));
  CHECK(throttle.ratio({110, 58, 0}, 2 * kSecond) == 0.8);
  CHECK(throttle.ratio({120, 58, 0}, 3 * kSecond) == 0.0);
}

TEST_CASE("a cgroup with a quota and no period was not throttled: the ratio is 0") {
  ThrottleMeter throttle = meter();
  throttle.ratio({0, 0, 0}, kSecond);
  CHECK(throttle.ratio({0, 0, 0}, 2 * kSecond) == 0.0);
}

TEST_CASE("a throttling that is counted before its period does not make a ratio above 1") {
  ThrottleMeter throttle = meter();
  throttle.ratio({10, 10, 0}, kSecond);
  CHECK(throttle.ratio({20, 21, 0}, 2 * kSecond) == 1.0);
}

TEST_CASE("a counter that decreased gives no ratio, and the next reading starts from it") {
  ThrottleMeter throttle = meter();
  throttle.ratio({100, 50, 0}, kSecond);
  CHECK_FALSE(throttle.ratio({10, 60, 0}, 2 * kSecond));
  CHECK_FALSE(throttle.ratio({20, 10, 0}, 3 * kSecond));
  CHECK(throttle.ratio({24, 11, 0}, 4 * kSecond) == 0.25);
}

TEST_CASE("over a gap there is no ratio") {
  ThrottleMeter throttle = meter();
  throttle.ratio({100, 50, 0}, kSecond);
  CHECK_FALSE(throttle.ratio({110, 60, 0}, 22 * kSecond));
  CHECK_FALSE(throttle.ratio({110, 60, 0}, 22 * kSecond));
  CHECK(throttle.ratio({112, 61, 0}, 23 * kSecond) == 0.5);
}

TEST_CASE("without the counters of CFS bandwidth there is no ratio, not 0") {
  ThrottleMeter throttle = meter();
  CHECK_FALSE(throttle.ratio({kAbsent, kAbsent, kAbsent}, kSecond));
  CHECK_FALSE(throttle.ratio({kAbsent, kAbsent, kAbsent}, 2 * kSecond));
}

TEST_CASE("throttled time is a running total in seconds, of cgroups that have or had a quota") {
  CHECK(throttled_seconds({100, 40, 2'500'000'000}) == 2.5);
  CHECK(throttled_seconds({100, 0, 0}) == 0.0);
  CHECK_FALSE(throttled_seconds({0, 0, 0}));
  CHECK_FALSE(throttled_seconds({100, 40, kAbsent}));
}

TEST_CASE("the first tick gives a container's throttled time, the second its ratio, and the pod's") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu"},
                 {"cgroup/kubepods/pod1/cpu.stat", "usage_usec 9\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"},
                 {"cgroup/kubepods/pod1/c1/cpu.stat", kV2}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_cpu_throttled_seconds_total", {{"container_id", "containerd://c1"}}) == 2.5);
  CHECK_FALSE(host.value("container_cpu_throttled"));
  host.clock().advance(1s);
  node.write("cgroup/kubepods/pod1/c1/cpu.stat", kV2Later);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_cpu_throttled", {{"container_id", "containerd://c1"}}) == 0.5);
  CHECK(host.value("container_cpu_throttled_seconds_total") == 3.0);
  CHECK(host.value("pod_cpu_throttled", {{"pod_uid", "pod1"}}) == 0.0);
  CHECK_FALSE(host.value("pod_cpu_throttled_seconds_total"));
}

TEST_CASE("the plugin reads v1's nanoseconds of throttled time") {
  FakeNode node({{"cgroup/cpuacct/", ""},
                 {"cgroup/memory/", ""},
                 {"cgroup/cpu/kubepods/pod1/cpu.stat", "nr_periods 10\nnr_throttled 1\nthrottled_time 250000000\n"}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_cpu_throttled_seconds_total") == 0.25);
}
