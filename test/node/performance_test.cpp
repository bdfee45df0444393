// SPDX-License-Identifier: Apache-2.0
// Groups of counters on cgroups of the real kernel, with software events if no PMU exists. The calls are the same, and
// the counted processes know the right values themselves.
#include <doctest/doctest.h>
#include <perfmon/pfmlib.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "plugins/shared/counters/cgroup_counters.hpp"
#include "plugins/shared/counters/event_set.hpp"
#include "plugins/shared/counters/perf_hierarchy.hpp"
#include "test/node/perf_worker.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/real_cgroup.hpp"

namespace {

using namespace koord::performance;
using namespace std::chrono_literals;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

std::vector<unsigned> online_cpus() {
  return must(koord::CpuSet::parse(must(koord::read_file("/sys/devices/system/cpu/online")))).members();
}

// On hardware the difference is below a hundredth. The group also counts switches and interrupts, which are slow on an
// emulated machine and not in a process' own clock.
bool agree(double found, double expected) { return found > 0.95 * expected && found < 1.25 * expected; }

std::size_t open_descriptors() { return must(koord::list_directory("/proc/self/fd")).size(); }

CgroupCounters open_counters(const PerfCgroup& cgroup, const std::vector<EventCode>& events) {
  const koord::UniqueFd directory = must(koord::open_directory(cgroup.path()));
  return must(CgroupCounters::open(directory.get(), events, online_cpus()));
}

std::vector<EventCode> software_events() {
  const auto encoded = must(encode_events({.cycles = "PERF_COUNT_SW_TASK_CLOCK",
                                           .instructions = "PERF_COUNT_SW_CPU_CLOCK",
                                           .llc_misses = "PERF_COUNT_SW_PAGE_FAULTS"}));
  return {encoded.cycles, encoded.instructions, *encoded.llc_misses};
}

constexpr const char* kSoftwareConfig =
    R"({"cycles": "PERF_COUNT_SW_TASK_CLOCK", "instructions": "PERF_COUNT_SW_CPU_CLOCK",
  "llcMisses": "PERF_COUNT_SW_PAGE_FAULTS", "events": ["PERF_COUNT_SW_CONTEXT_SWITCHES"]})";

// The real cgroup tree, with a node that has the CPUs of this machine.
struct RealNode {
  explicit RealNode(const std::string& config = kSoftwareConfig) {
    node.remove("cgroup");
    node.link("cgroup", "/sys/fs/cgroup");
    node.write("sys/devices/system/cpu/online", must(koord::read_file("/sys/devices/system/cpu/online")));
    host.emplace(node, config);
    advisor.emplace(*host, koord_entry_v1());
  }

  void publish(const std::vector<const PerfCgroup*>& cgroups) {
    std::vector<koord::state::Container> services;
    for (const PerfCgroup* cgroup : cgroups) {
      koord::state::Container service;
      service.id = service.name = cgroup->dir();
      service.kind = koord::state::ContainerKind::service;
      service.cgroup_dir = cgroup->dir();
      services.push_back(service);
    }
    host->hub().publish({.pods = std::vector<koord::state::Pod>{}, .standalone = services});
  }
  koord_status tick() {
    host->clock().advance(10s);
    return advisor->collect();
  }
  std::optional<double> value(const std::string& metric, const PerfCgroup& cgroup,
                              koord::metric::Labels more = {}) const {
    more.push_back({"container_name", cgroup.dir()});
    return host->value(metric, more);
  }

  FakeNode node;
  std::optional<FakeHost> host;
  std::optional<FakeInstance> advisor;
};

}  // namespace

TEST_CASE(
    "a group counts the CPU time that the cgroup's process knows of itself, and nothing of a sibling that sleeps") {
  PerfCgroup busy("busy"), idle("idle");
  Worker worker(busy), sleeper(idle);
  const CgroupCounters of_busy = open_counters(busy, software_events()),
                       of_idle = open_counters(idle, software_events());
  const double used = worker.work();
  const Estimate counted = estimate(must(of_busy.read()), 0.05);
  const Estimate slept = estimate(must(of_idle.read()), 0.05);
  std::printf("used %.6f s, task-clock %.6f s, cpu-clock %.6f s, faults %.0f\n", used,
              counted.count(0).value_or(-1) / 1e9, counted.count(1).value_or(-1) / 1e9, counted.count(2).value_or(-1));
  REQUIRE(counted.verdict == Verdict::counted);
  CHECK(agree(*counted.count(0) / 1e9, used));
  CHECK(agree(*counted.count(1) / 1e9, used));
  CHECK(*counted.count(2) >= kTouchedPages);
  CHECK(*counted.count(2) < kTouchedPages * 1.2);
  CHECK(*counted.running_ratio > 0.99);
  CHECK(slept.count(0).value_or(0) < *counted.count(0) / 100);
}

TEST_CASE("tasks in a cgroup below are counted with the cgroup above") {
  PerfCgroup container("above");
  PerfCgroup below(container, "below");
  Worker worker(below);
  const CgroupCounters counters = open_counters(container, software_events());
  const double used = worker.work();
  CHECK(agree(*estimate(must(counters.read()), 0.05).count(0) / 1e9, used));
}

TEST_CASE("when one CPU refuses there are no counters at all, and no descriptor stays open") {
  PerfCgroup container("partial");
  const std::vector<EventCode> events = software_events();
  const koord::UniqueFd directory = must(koord::open_directory(container.path()));
  std::vector<unsigned> cpus = online_cpus();
  cpus.push_back(koord::CpuSet::kMaxCpus - 1);
  const std::size_t before = open_descriptors();
  const auto counters = CgroupCounters::open(directory.get(), events, cpus);
  REQUIRE_FALSE(counters);
  CHECK(counters.error().message().find("on CPU 65535") != std::string::npos);
  CHECK(open_descriptors() == before);
}

TEST_CASE("an event that this node does not have is left out with the reason, the others are counted") {
  auto encoded = must(encode_events({.cycles = "PERF_COUNT_SW_TASK_CLOCK",
                                     .instructions = "PERF_COUNT_SW_CPU_CLOCK",
                                     .llc_misses = "",
                                     .further = {"PERF_COUNT_SW_PAGE_FAULTS"}}));
  encoded.further.insert(encoded.further.begin(), EventCode{.name = "none", .type = 1, .config = 9999});
  const koord::UniqueFd root = must(koord::open_directory(tree()));
  const EventSet set = must(choose_events(encoded, root.get(), online_cpus().front()));
  CHECK(set.events.size() == 3);
  CHECK(set.further == std::vector<std::size_t>{2});
  REQUIRE(set.left_out.size() == 1);
  CHECK(set.left_out[0].name == "none");
  CHECK(set.left_out[0].why.find("no such counter") != std::string::npos);
}

TEST_CASE("with its default events the plugin counts cycles, or is absent where there is no PMU") {
  RealNode real("{}");
  const koord_status status = real.advisor->init();
  if (status == KOORD_OK) return;
  CHECK(status == KOORD_E_UNSUPPORTED);
  CHECK(real.advisor->why().find("PERF_COUNT_HW_CPU_CYCLES") != std::string::npos);
}

TEST_CASE("the plugin gives each container's window to its series, and nothing for a container that slept") {
  PerfCgroup busy("plugin-busy"), idle("plugin-idle");
  Worker worker(busy), sleeper(idle);
  RealNode real;
  real.publish({&busy, &idle});
  REQUIRE_MESSAGE(real.advisor->init() == KOORD_OK, real.advisor->why());
  CHECK(real.tick() == KOORD_OK);
  const double used = worker.work();
  CHECK(real.tick() == KOORD_OK);
  CHECK(agree(*real.value("container_cpi", busy, {{"cpi_resource", "cycle"}}) / 1e9, used));
  CHECK(agree(*real.value("container_cycles_per_instruction", busy), 1));
  CHECK(*real.value("container_perf_running_ratio", busy) > 0.99);
  // Page faults replace misses here, and nanoseconds replace instructions.
  const double instructions = *real.value("container_cpi", busy, {{"cpi_resource", "instruction"}});
  CHECK(agree(*real.value("container_llc_misses_per_kilo_instructions", busy) * instructions / 1000, kTouchedPages));
  CHECK(real.value("container_perf_event_rate", busy, {{"event", "PERF_COUNT_SW_CONTEXT_SWITCHES"}}).has_value());
  CHECK_FALSE(real.value("container_cpi", idle, {{"cpi_resource", "cycle"}}));
}

TEST_CASE("a container's value goes when its next window has none, and no descriptor stays open between windows") {
  PerfCgroup container("plugin-gone");
  Worker worker(container);
  RealNode real;
  real.publish({&container});
  REQUIRE(real.advisor->init() == KOORD_OK);
  const std::size_t before = open_descriptors();
  real.tick();
  worker.work();
  real.tick();
  CHECK(real.value("container_cycles_per_instruction", container));
  CHECK(open_descriptors() == before);
  for (int window = 0; window < 6; ++window) real.tick();
  CHECK_FALSE(real.value("container_cycles_per_instruction", container));
}

TEST_CASE("with descriptors for one container at a time they take turns, a new one first") {
  PerfCgroup first("turn-1"), second("turn-2"), third("turn-3");
  Worker one(first), two(second), three(third);
  RealNode real(R"({"cycles": "PERF_COUNT_SW_TASK_CLOCK", "instructions": "PERF_COUNT_SW_CPU_CLOCK", "llcMisses": "",
                    "interval": "20s", "maxDescriptors": 1})");
  real.publish({&first, &second});
  REQUIRE(real.advisor->init() == KOORD_OK);
  const auto measured = [&](const PerfCgroup& cgroup) {
    return real.value("container_cycles_per_instruction", cgroup).has_value();
  };
  const auto window = [&] {
    one.work(), two.work(), three.work();
    REQUIRE(real.tick() == KOORD_OK);
  };
  real.tick();
  window();
  CHECK(measured(first) + measured(second) == 1);
  real.publish({&first, &second, &third});
  window();
  CHECK(measured(first) + measured(second) == 2);
  window();
  CHECK(measured(third));
}

TEST_CASE(
    "a container without a cgroup in the hierarchy has no values; without other containers the capability says so") {
  RealNode real;
  {
    PerfCgroup container("plugin-vanished");
    real.publish({&container});
  }
  REQUIRE(real.advisor->init() == KOORD_OK);
  CHECK(real.tick() == KOORD_OK);
  CHECK(real.tick() == KOORD_OK);
  CHECK(real.host->value("performance_windows_dropped_total", {{"reason", "incomplete"}}) == 0.0);
  CHECK(real.host->value("performance_round_seconds") == 0.0);
  CHECK(real.host->capabilities().find("performance_counters", "test")->detail.find("no container has a cgroup in") ==
        0);
}

TEST_CASE("without descriptors the tick reports it and drops the window; later the container is counted again") {
  PerfCgroup container("plugin-emfile");
  Worker worker(container);
  RealNode real;
  real.publish({&container});
  REQUIRE(real.advisor->init() == KOORD_OK);
  rlimit all{};
  ::getrlimit(RLIMIT_NOFILE, &all);
  rlimit few = all;
  few.rlim_cur = open_descriptors() + 2;
  ::setrlimit(RLIMIT_NOFILE, &few);
  const koord_status starved = real.tick();
  ::setrlimit(RLIMIT_NOFILE, &all);
  CHECK(starved == KOORD_E_IO);
  CHECK(real.advisor->why().find("Too many open files") != std::string::npos);
  CHECK(real.host->value("performance_windows_dropped_total", {{"reason", "incomplete"}}) == 1.0);
  CHECK(real.tick() == KOORD_OK);
  worker.work();
  CHECK(real.tick() == KOORD_OK);
  CHECK(real.value("container_cycles_per_instruction", container));
}

TEST_CASE("a changed configuration counts other events; one that is wrong leaves the old ones") {
  PerfCgroup container("plugin-config");
  Worker worker(container);
  RealNode real;
  real.publish({&container});
  REQUIRE(real.advisor->init() == KOORD_OK);
  real.tick();
  REQUIRE(real.host->context().set_config_json(R"({"cycles": "NONSENSE"})"));
  CHECK(real.advisor->on_event(KOORD_ON_CONFIG) == KOORD_E_INVALID);
  worker.work();
  CHECK(real.tick() == KOORD_OK);
  CHECK(real.value("container_llc_misses_per_kilo_instructions", container));
  REQUIRE(real.host->context().set_config_json(
      R"({"cycles": "PERF_COUNT_SW_TASK_CLOCK", "instructions": "PERF_COUNT_SW_CPU_CLOCK", "llcMisses": ""})"));
  REQUIRE(real.advisor->on_event(KOORD_ON_CONFIG) == KOORD_OK);
  real.tick();
  worker.work();
  CHECK(real.tick() == KOORD_OK);
  CHECK(real.value("container_cycles_per_instruction", container));
  CHECK_FALSE(real.value("container_llc_misses_per_kilo_instructions", container));
}

int main(int argc, char** argv) {
  // Called here, so that a copy of this program for a different machine includes the library, which the plugin loads by
  // name.
  std::printf("libpfm4 %d.%d\n", PFM_MAJ_VERSION(pfm_get_version()), PFM_MIN_VERSION(pfm_get_version()));
  const auto skip = [](const std::string& why) {
    std::printf("SKIPPED: %s\n", why.c_str());
    return koord::test::kSkip;
  };
  if (auto why = koord::test::RealCgroup::unavailable()) return skip("no cgroups to measure: " + *why);
  if (auto found = find_perf_hierarchy("/sys/fs/cgroup"); !found) return skip(found.error().message());
  const koord::UniqueFd root = must(koord::open_directory(tree()));
  if (auto opened = CgroupCounters::open(root.get(), software_events(), online_cpus()); !opened)
    return skip(opened.error().message());
  return doctest::Context(argc, argv).run();
}
