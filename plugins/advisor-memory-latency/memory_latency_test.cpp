// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-latency/memory_latency.hpp"

#include <doctest/doctest.h>

#include "plugins/advisor-memory-latency/memory_series.hpp"
#include "test/support/fake_host.hpp"

using koord::latency::CumulativeCounts;
using koord::latency::Histogram;
using koord::memory_latency::Kind;
using koord::memory_latency::MemoryMetrics;
using koord::memory_latency::MemorySeries;
using koord::memory_latency::Stalls;
using koord::memory_latency::Windows;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

// Returns n stalls in [2048, 4096) µs.
Stalls stalls(Kind kind, std::uint64_t n, std::uint64_t each_ns = 3'000'000) {
  Stalls stalls;
  Histogram& histogram = stalls.of(kind);
  histogram.count = n;
  histogram.sum_ns = n * each_ns;
  histogram.buckets[12] = n;
  return stalls;
}

Stalls sum(Stalls left, const Stalls& right) { return left += right; }

void report(FakeHost& host, MemorySeries& series, const Stalls& window,
            std::optional<std::uint64_t> length_ns = std::nullopt) {
  koord::plugin::Batch batch(host.abi());
  CumulativeCounts counts;
  series.report(window, length_ns, batch, counts);
  batch.send(static_cast<std::uint64_t>(host.clock().now().time_since_epoch().count()));
  host.clock().advance(std::chrono::seconds(5));
}

FakeNode v2_node() { return FakeNode({{"cgroup/cgroup.procs", ""}, {"proc/self/cgroup", "0::/\n"}}); }

}  // namespace

TEST_CASE("stalls are kept by kind, and added up over all kinds") {
  const Stalls both = sum(stalls(Kind::memcg_reclaim, 2), stalls(Kind::compaction, 3));
  CHECK(both.of(Kind::memcg_reclaim).count == 2);
  CHECK(both.of(Kind::direct_reclaim).empty());
  CHECK(both.all().count == 5);
  CHECK(both.all().sum_ns == 15'000'000);
}

TEST_CASE("stalls of any kind make a window that is not empty") {
  CHECK(Stalls{}.empty());
  CHECK_FALSE(stalls(Kind::compaction, 1).empty());
}

TEST_CASE("a cgroup's window has the increase of each kind, and the node's window the increase in total") {
  Windows windows;
  windows.advance({.cgroups = {{7, stalls(Kind::memcg_reclaim, 10)}}, .unassigned = Stalls{}});
  windows.advance({.cgroups = {{7, sum(stalls(Kind::memcg_reclaim, 12), stalls(Kind::direct_reclaim, 1))}},
                   .unassigned = stalls(Kind::compaction, 4)});
  CHECK(windows.of(7) == sum(stalls(Kind::memcg_reclaim, 2), stalls(Kind::direct_reclaim, 1)));
  CHECK(windows.node()->of(Kind::compaction).count == 4);
  CHECK(windows.node()->all().count == 7);
}

TEST_CASE("the stalled time is a running total for each kind, from the first tick on") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  MemorySeries series(MemoryMetrics(host.abi(), "container", false), KOORD_NO_SUBJECT);
  report(host, series, Stalls{});
  CHECK(host.value("container_memory_stall_seconds_total", {{"kind", "memcg_reclaim"}}) == 0.0);
  report(host, series, stalls(Kind::memcg_reclaim, 100));
  report(host, series, sum(stalls(Kind::memcg_reclaim, 100), stalls(Kind::compaction, 1)));
  CHECK(host.value("container_memory_stall_seconds_total", {{"kind", "memcg_reclaim"}}).value() ==
        doctest::Approx(0.6));
  CHECK(host.value("container_memory_stall_seconds_total", {{"kind", "compaction"}}).value() == doctest::Approx(0.003));
  CHECK(host.value("container_memory_stall_seconds_total", {{"kind", "direct_reclaim"}}) == 0.0);
}

TEST_CASE("mean and 99 % quantile refer to the last period with stalls: a period without stalls has none, not zero") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  MemorySeries series(MemoryMetrics(host.abi(), "container", false), KOORD_NO_SUBJECT);
  report(host, series, stalls(Kind::memcg_reclaim, 10));
  CHECK(host.value("container_memory_latency_mean_seconds").value() == doctest::Approx(0.003));
  CHECK(host.value("container_memory_latency_p99_seconds").value() == doctest::Approx(0.00407552));
  report(host, series, Stalls{});
  CHECK(host.value("container_memory_latency_mean_seconds").value() == doctest::Approx(0.003));
  report(host, series, stalls(Kind::compaction, 1, 2'100'000));
  CHECK(host.value("container_memory_latency_mean_seconds").value() == doctest::Approx(0.0021));
}

TEST_CASE("the stall ratio is the average number of stalled threads; a window of unknown length has none") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  MemorySeries series(MemoryMetrics(host.abi(), "container", false), KOORD_NO_SUBJECT);
  report(host, series, stalls(Kind::memcg_reclaim, 10));
  CHECK_FALSE(host.value("container_memory_stall_ratio"));
  report(host, series, stalls(Kind::memcg_reclaim, 1000), 2'000'000'000);  // 3 s in 2 s
  CHECK(host.value("container_memory_stall_ratio").value() == doctest::Approx(1.5));
  report(host, series, Stalls{}, 2'000'000'000);
  CHECK(host.value("container_memory_stall_ratio") == 0.0);
}

TEST_CASE("if the kernel refuses every source the plugin is absent, with the reason for each") {
  const FakeNode node = v2_node();
  FakeHost host(node, R"({"btf": "/dev/null"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("task_storage: ") != std::string::npos);
  CHECK(advisor.why().find("raw_tracepoint: ") != std::string::npos);
}

TEST_CASE("without a hierarchy of the memory controller the plugin is absent") {
  const FakeNode node({{"proc/self/cgroup", "4:memory:/\n"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("no tree of the memory controller") != std::string::npos);
}

TEST_CASE("after the machine went down with its programs the plugin is absent, and reports and records that") {
  FakeNode node = v2_node();
  node.write("proc/sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111111\n");
  node.write("state/advisor-memory-latency.tracing-abcdef", "22222222-2222-2222-2222-222222222222");
  FakeHost host(node, "{\"marker\": \"" + node.path("state") + "\"}");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("went down") != std::string::npos);
}
