// SPDX-License-Identifier: Apache-2.0
// The demo of examples/noisy-neighbour: the agent shows when the antagonist's effect on a victim begins and ends, and
// agrees with the victim's own measurement.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;

namespace {

constexpr auto kMinute = std::chrono::minutes(1);
// The counters of the pod's containers are on /metrics only with `detail: all`.
constexpr const char* kConfig = R"(
state: {source: cgroup, cgroup: {paths: ["koord-test-*", "koord-test-*/*"]}}
exporter: {detail: all})";
constexpr const char* kSettings =
    "plugins.settings={advisor-sched-latency: {period: 1s}, advisor-memory-latency: {period: 1s}}";

struct SelfReport {
  double late_total = 0, read_total = 0;  // seconds since the victim began
};

struct NoisyNeighbourFixture {
  NoisyNeighbourFixture() {
    pod.limit_memory(96u << 20);
    pod.limit_cpu(1);
  }

  double value(const char* family, std::vector<std::string> labels = {}) const {
    labels.push_back("container_name=\"" + victim_cgroup.dir() + '"');
    return find_metric(agent.metrics(), std::string("koordetector_container_") + family, labels).value_or(-1);
  }
  // Stalls of all kinds.
  double stalled_seconds() const {
    double sum = 0;
    for (const char* kind : {"memcg_reclaim", "direct_reclaim", "compaction"})
      sum += value("memory_stall_seconds_total", {std::string("kind=\"") + kind + '"'});
    return sum;
  }
  SelfReport self_report() const {
    const std::string text = koord::read_file(log).value_or("");
    const std::size_t end = text.rfind('\n'), begin = end == std::string::npos ? end : text.rfind('\n', end - 1);
    if (begin == std::string::npos) return {};
    std::string_view line = std::string_view(text).substr(begin + 1, end - begin - 1);
    for (int skipped = 0; skipped < 3; ++skipped) koord::next_word(line);
    return {koord::parse_double(koord::next_word(line).value_or("")).value_or(0),
            koord::parse_double(koord::next_word(line).value_or("")).value_or(0)};
  }
  // The quota belongs to the pod, so a container that uses it up also throttles the other container.
  double throttled() const {
    return find_metric(agent.metrics(), "koordetector_container_cpu_throttled", {"container_name=\"" + pod.dir() + '"'})
        .value_or(-1);
  }
  // Returns the column WAIT P95 of `koordctl top`, or "" without a row for the container.
  std::string wait_p95(const std::string& container) const {
    const std::string table = agent.ctl({"top", "--once", "--all"}).output;
    const std::size_t name = table.find("/" + container + " ");
    if (name == std::string::npos) return {};
    std::string_view line = std::string_view(table).substr(name, table.find('\n', name) - name);
    std::vector<std::string> columns;
    while (auto word = koord::next_word(line)) columns.emplace_back(*word);
    // From the end: WAIT P50, P95, P99, THROTTLED, STALLED, INTERFERENCE; values and units are one word, and without
    // advisor-interference the last is "-".
    return columns.size() < 6 ? std::string() : columns[columns.size() - 5];
  }
  bool is_calm() const { return throttled() == 0 && value("memory_stall_ratio") == 0; }

  RealCgroup pod{"noisy"};
  RealCgroup victim_cgroup{pod, "victim"}, antagonist_cgroup{pod, "antagonist"};
  AgentProcess agent{kConfig,
                     {built("plugins/advisor-sched-latency"), built("plugins/advisor-memory-latency"),
                      built("plugins/advisor-pod-throttled")}};
  std::string log = agent.folder() / "victim.log";
};

// Runs the command in the cgroup. The process joins the cgroup before it executes the command.
void become(const RealCgroup& cgroup, std::vector<const char*> command, const std::string& output) {
  cgroup.add_process(::getpid());
  if (!std::freopen(output.c_str(), "w", stdout)) ::_exit(1);
  command.push_back(nullptr);
  ::execv(command[0], const_cast<char**>(command.data()));
  ::_exit(1);
}

}  // namespace

TEST_CASE("the metrics show when an antagonist begins and ends, and agree with the victim's own measurement") {
  NoisyNeighbourFixture fixture;
  const std::string file = fixture.agent.folder() / "file";
  ChildProcess victim([&] { become(fixture.victim_cgroup, {KOORD_WORKLOAD, "victim", file.c_str()}, fixture.log); });
  REQUIRE(fixture.agent.start({"--set", kSettings}));
  REQUIRE(eventually([&] { return fixture.is_calm(); }, kMinute));
  {
    ChildProcess antagonist([&] { become(fixture.antagonist_cgroup, {KOORD_WORKLOAD, "antagonist"}, "/dev/null"); });
    CHECK(eventually([&] { return fixture.value("memory_stall_ratio") > 0.01; }, kMinute));
    CHECK(eventually([&] { return fixture.value("sched_latency_p99_seconds") > 0.002; }, kMinute));
    CHECK(eventually([&] { return fixture.throttled() > 0.2; }, kMinute));
  }
  CHECK(eventually([&] { return fixture.is_calm(); }, kMinute));
  // The antagonist's cgroup stays without processes, so it has no new values.
  CHECK(eventually([&] { return fixture.wait_p95("antagonist") == "-"; }, kMinute));
  CHECK(fixture.wait_p95("victim") != "-");

  // Without BTF the first metric includes the time throttled by a quota, and the second metric is missing.
  const double stalled = fixture.stalled_seconds(),
               waited = fixture.value("sched_latency_seconds_sum") +
                        std::max(0.0, fixture.value("sched_latency_throttled_seconds_total"));
  const SelfReport before = fixture.self_report();
  // The victim reports once a second, so the next report covers the whole time of the metrics above.
  REQUIRE(eventually([&] { return fixture.self_report().late_total > before.late_total; }));
  CHECK(stalled > 0);
  CHECK(stalled < 1.1 * fixture.self_report().read_total);  // the victim was held up in its reads
  CHECK(waited > 0.5 * before.late_total);  // its timers were late because of waits for a CPU or a quota
  MESSAGE("held up for memory ", stalled, " s, in reads ", before.read_total, " s; waited ", waited, " s, late ",
          before.late_total, " s");
}
