// SPDX-License-Identifier: Apache-2.0
// Known answers on this machine's kernel: the agent's values of a cgroup match the usage that the test causes.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr const char* kStateOfTests = "state: {source: cgroup, cgroup: {paths: [\"koord-test-*\"]}, resyncPeriod: 1h}";

std::vector<std::string> pod_resource() { return {built("plugins/advisor-pod-resource")}; }

[[noreturn]] void burn() {
  for (;;) asm volatile("");
}

std::string container(const RealCgroup& cgroup) { return "container_name=\"" + cgroup.dir() + "\""; }

// Returns the CPU seconds in the kernel's file of the cgroup.
double cpu_seconds(const RealCgroup& cgroup) {
  auto text = koord::read_file(cgroup.path(Controller::cpuacct) + "/cpuacct.usage");
  if (text) return koord::parse_double(koord::trim(*text)).value_or(0) / 1e9;
  auto stat = koord::read_file(cgroup.path(Controller::cpu) + "/cpu.stat");
  return static_cast<double>(koord::find_flat_key(stat.value_or(""), "usage_usec").value_or(0)) / 1e6;
}

// Returns the time the process was runnable and waited: the second number of the kernel's schedstat.
double seconds_waited(pid_t pid) {
  const std::string text = koord::read_file("/proc/" + std::to_string(pid) + "/schedstat").value_or("");
  const std::size_t at = text.find(' ');
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at, nullptr) / 1e9;
}

// Returns one cell of the first row that `koordctl query` prints as JSON.
double queried(const AgentProcess& agent, const std::string& metric, const std::string& aggregation,
               const RealCgroup& cgroup) {
  Finished query =
      agent.ctl({"query", metric, "--agg", aggregation, "--label", "container_name=" + cgroup.dir(), "-o", "json"});
  std::size_t at = query.output.find("\"" + aggregation + "\":");
  return at == std::string::npos ? -1 : std::strtod(query.output.c_str() + at + aggregation.size() + 3, nullptr);
}

}  // namespace

TEST_CASE("a cgroup that uses half a CPU under a quota has 0.5 cores") {
  RealCgroup cgroup("burn");
  cgroup.limit_cpu(0.5);
  ChildProcess burner(burn);
  cgroup.add_process(burner.pid());
  AgentProcess agent(kStateOfTests, pod_resource());
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return queried(agent, "container_cpu_usage", "count", cgroup) >= 5; }));

  CHECK(queried(agent, "container_cpu_usage", "avg", cgroup) == doctest::Approx(0.5).epsilon(0.1));
}

TEST_CASE("the agent's CPU time over a span is the increase of the kernel's own counter") {
  RealCgroup cgroup("agree");
  cgroup.limit_cpu(0.3);
  ChildProcess burner(burn);
  cgroup.add_process(burner.pid());
  AgentProcess agent(kStateOfTests, pod_resource());
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return queried(agent, "container_cpu_usage", "count", cgroup) >= 1; }));
  auto begin = std::chrono::steady_clock::now();
  double before = cpu_seconds(cgroup);
  REQUIRE(eventually([&] { return queried(agent, "container_cpu_usage", "count", cgroup) >= 7; }));
  double kernel_cores =
      (cpu_seconds(cgroup) - before) / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(queried(agent, "container_cpu_usage", "avg", cgroup) == doctest::Approx(kernel_cores).epsilon(0.1));
}

TEST_CASE("query and /metrics return the same last value, which is that of the kernel") {
  RealCgroup cgroup("memory");
  ChildProcess holder([] {
    std::vector<char> memory(64u << 20, 'x');
    ::pause();
  });
  cgroup.add_process(holder.pid());
  AgentProcess agent(kStateOfTests, pod_resource());
  REQUIRE(agent.start());
  // The process may have used its memory before it was moved, so only the three values' agreement is checked.
  REQUIRE(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_container_memory_usage", {container(cgroup)}).has_value();
  }));
  auto kernel = [&] {
    auto stat = koord::read_file(cgroup.path(Controller::memory) + "/memory.stat").value_or("");
    double sum = 0;
    for (const char* key : {"inactive_anon", "active_anon", "unevictable"})
      sum += static_cast<double>(koord::find_flat_key(stat, "total_" + std::string(key))
                                     .value_or(koord::find_flat_key(stat, key).value_or(0)));
    return sum;
  };
  CHECK(eventually([&] {
    double exported =
        find_metric(agent.metrics(), "koordetector_container_memory_usage", {container(cgroup)}).value_or(-1);
    return exported == kernel() && queried(agent, "container_memory_usage", "last", cgroup) == exported;
  }));
}

TEST_CASE("a cgroup's series disappear from /metrics soon after the cgroup") {
  AgentProcess agent(kStateOfTests, pod_resource());
  RealCgroup cgroup("ends");
  REQUIRE(agent.start());
  REQUIRE(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_container_memory_usage", {container(cgroup)}).has_value();
  }));
  cgroup.remove();
  CHECK(eventually([&] { return agent.metrics().find(container(cgroup)) == std::string::npos; },
                   std::chrono::seconds(5)));
}

TEST_CASE("with descriptors for only a few files every cgroup is still measured") {
  std::vector<std::unique_ptr<RealCgroup>> cgroups;
  for (int i = 0; i < 6; ++i) cgroups.push_back(std::make_unique<RealCgroup>("scarce" + std::to_string(i)));
  AgentProcess agent("cgroup: {keptFiles: 4}\n" + std::string(kStateOfTests), pod_resource());
  REQUIRE(agent.start());
  std::string text;
  CHECK(eventually([&] {
    text = agent.metrics();
    return std::all_of(cgroups.begin(), cgroups.end(), [&](const auto& cgroup) {
      return find_metric(text, "koordetector_container_cpu_usage", {container(*cgroup)}) &&
             find_metric(text, "koordetector_container_memory_usage", {container(*cgroup)});
    });
  }));
  CHECK(find_metric(text, "koordetector_host_cgroup_kept_descriptors", {"kind=\"file\""}).value_or(99) <= 4);
  CHECK(find_metric(text, "koordetector_host_cgroup_kept_descriptors", {"kind=\"directory\""}).value_or(0) >= 5);
  CHECK(find_metric(text, "koordetector_host_cgroup_files").value_or(0) >= 12);
}

TEST_CASE("koordctl top lists this machine's cgroups with CPU and memory") {
  RealCgroup cgroup("top");
  AgentProcess agent(kStateOfTests, pod_resource());
  REQUIRE(agent.start());
  CHECK(eventually([&] {
    std::string table = agent.ctl({"top", "--once", "--all"}).output;
    std::size_t at = table.find(cgroup.dir());
    return at != std::string::npos && table.find("0.000", at) != std::string::npos;
  }));
}

TEST_CASE("waits of threads that compete for a CPU are the scheduling latency of their cgroup") {
  std::string plugin = built("plugins/advisor-sched-latency");
  if (!koord::list_directory(plugin) || ::access((plugin + "/advisor-sched-latency.so").c_str(), F_OK) != 0) {
    MESSAGE("SKIPPED: built without eBPF");
    return;
  }
  RealCgroup cgroup("wait");
  std::vector<std::unique_ptr<ChildProcess>> burners;
  for (long i = 0; i < 2 * ::sysconf(_SC_NPROCESSORS_ONLN); ++i) {
    burners.push_back(std::make_unique<ChildProcess>(burn));
    cgroup.add_process(burners.back()->pid());
  }
  // Returns the seconds that they waited for a CPU by the kernel's count.
  auto waited = [&] {
    double sum = 0;
    for (const auto& burner : burners) sum += seconds_waited(burner->pid());
    return sum;
  };
  const double before = waited();
  AgentProcess agent(kStateOfTests, {plugin});
  REQUIRE(agent.start({"--set", "exporter.detail=all"}));
  auto value = [&](std::string_view family) { return find_metric(agent.metrics(), family, {container(cgroup)}); };
  auto measured = [&] { return value("koordetector_container_sched_latency_seconds_sum").value_or(0); };
  REQUIRE(eventually([&] { return measured() > 0; }));

  // The measurement has begun. From now on its sum must equal the kernel's, and never be greater.
  const double begin = waited();
  REQUIRE(eventually([&] { return waited() > begin + 1; }, std::chrono::seconds(60)));
  const double end = waited();
  CHECK(eventually([&] { return measured() >= 0.9 * (end - begin); }, std::chrono::seconds(30)));
  const double sum = measured();
  CHECK(sum <= 1.1 * (waited() - before));
  CHECK(value("koordetector_container_sched_latency_p50_seconds").value_or(0) > 0);
  CHECK(value("koordetector_container_sched_latency_seconds_count").value_or(0) > 0);
}
