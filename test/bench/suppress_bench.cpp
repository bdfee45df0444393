// SPDX-License-Identifier: Apache-2.0
// The effect of qos-cpu-suppress on this kernel. Measures a service alone; with best-effort load (stress-ng, in a class
// with the same weight, and with the weight 2 that a kubelet sets); and with the load while the whole agent enforces
// each policy. The agent always runs, with the CPU request of the chart, in shadow mode if no policy is enforced, so
// its own cost is the same in all cases. The service without the agent shows that cost.
//
// The service has one thread per CPU, bound to it, so the kernel's placement of threads has no effect.
// Throughput is the number of beats of fixed work per second. Latency is the delay of a thread after its timer, plus
// the time until the end of the beat in which it was runnable but did not run (run_delay of schedstat), at the 99th
// percentile. Rounds alternate, because other load on the machine should affect all cases equally. Each result is the
// median of its rounds, followed by the best round, because other load can only make a round worse.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/bench/measure.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/pods_by_hand.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

namespace {

constexpr auto kRound = 5s;
constexpr auto kStartOfAgent = 5s;  // the agent has more work at its start than later
constexpr auto kBeat = 2ms;
constexpr int kRounds = 5;
constexpr int kThresholdPercent = 50;  // percent of the node; with a higher threshold the service and the load share
                                       // two CPUs

constexpr auto kWork =
    500us;  // CPU time of a beat without other load: shorter than the kernel's slice, like an answer to a request

void spin(unsigned turns) {
  for (unsigned i = 0; i < turns; ++i) asm volatile("");
}

// Returns how many iterations take kWork on this machine, from the fastest of many tries.
unsigned turns_of_work() {
  constexpr unsigned kTurns = 100'000;
  Steady::duration quickest = 1s;
  for (int i = 0; i < 100; ++i) {
    const auto begin = Steady::now();
    spin(kTurns);
    quickest = std::min(quickest, Steady::now() - begin);
  }
  return static_cast<unsigned>(kTurns * (kWork / std::chrono::duration<double>(quickest)));
}

struct Beats {
  double count = 0;
  std::vector<double> latency_us;  // latency of each beat
};

// Returns how long the calling thread was runnable but did not run, from an open file.
double waited_us(int schedstat) {
  char text[96];
  const ssize_t n = ::pread(schedstat, text, sizeof text - 1, 0);
  if (n <= 0) return 0;
  text[n] = 0;
  char* at = nullptr;
  std::strtoull(text, &at, 10);
  return std::strtod(at, nullptr) / 1e3;
}

// Skips a beat that cannot begin in time, so a delay counts once.
Beats one_thread(unsigned cpu, unsigned turns) {
  Beats beats;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  ::sched_setaffinity(0, sizeof only, &only);
  const int schedstat = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  const auto begin = Steady::now();
  for (auto due = begin; due < begin + kRound; due += kBeat * (1 + (Steady::now() - due) / kBeat)) {
    std::this_thread::sleep_until(due);
    const double late_us = std::chrono::duration<double, std::micro>(Steady::now() - due).count(),
                 before = waited_us(schedstat);
    spin(turns);
    beats.latency_us.push_back(late_us + waited_us(schedstat) - before);
    ++beats.count;
  }
  ::close(schedstat);
  return beats;
}

double p99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

// Runs a thread for each CPU in the service's cgroup. Reports beats per second, and the p99 of their latency.
void serve(const PodsByHand& pods, unsigned turns, const std::string& output) {
  pods.service.add_process(::getpid());
  std::vector<Beats> of_threads(pods.cpus());
  std::vector<std::thread> threads;
  for (unsigned cpu = 0; cpu < pods.cpus(); ++cpu)
    threads.emplace_back([&, cpu] { of_threads[cpu] = one_thread(cpu, turns); });
  for (std::thread& thread : threads) thread.join();
  Beats all;
  for (const Beats& beats : of_threads) {
    all.count += beats.count;
    all.latency_us.insert(all.latency_us.end(), beats.latency_us.begin(), beats.latency_us.end());
  }
  std::ofstream(output) << all.count / std::chrono::duration<double>(kRound).count() << ' ' << p99(all.latency_us);
}

struct Results {
  std::vector<double> beats, latency_us;
};

void measure(const PodsByHand& pods, const TemporaryFolder& folder, Results& results) {
  static const unsigned turns = turns_of_work();
  ChildProcess service([&] { serve(pods, turns, folder / "beats"); });
  service.wait(60s);
  double beats = 0, latency = 0;
  std::ifstream(folder / "beats") >> beats >> latency;
  results.beats.push_back(beats);
  results.latency_us.push_back(latency);
}

// An agent with a policy, which runs while this object exists. It runs in the pods' top cgroup, because outside of it
// it would get no CPU.
class Agent {
 public:
  Agent(const PodsByHand& pods, const RealCgroup& cgroup, const std::string& policy, const std::string& mode)
      : agent_("roots: {cgroup: " + pods.root(folder_.path()) + "}\nstate: {source: file, file: {pods: " +
                   folder_ / "pods.yaml" + ", nodeSLO: " + folder_ / "slo.yaml" + "}}\nqos: {mode: " + mode + "}\n",
               {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
                built("plugins/qos-cpu-suppress")}) {
    pods.write_files(folder_.path(), "{resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: " +
                                         std::to_string(kThresholdPercent) + "}}");
    agent_.launch({"--set", "plugins.settings={qos-cpu-suppress: {config: {policy: " + policy + "}}}"});
    cgroup.add_process(agent_.process().pid());
    const std::string result = mode == "enforce" ? "applied" : mode;
    decides_ = eventually(
        [&] { return agent_.get("/api/v1/decisions").find("\"result\":\"" + result + "\"") != std::string::npos; },
        60s);
    if (!decides_) std::printf("%s: nothing was %s:\n%s\n", policy.c_str(), result.c_str(), agent_.log().c_str());
    std::this_thread::sleep_for(kStartOfAgent);
  }
  ~Agent() { agent_.stop(); }
  bool decides() const { return decides_; }

 private:
  TemporaryFolder folder_;
  AgentProcess agent_;
  bool decides_ = false;
};

double best(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

void print(const char* name, const Results& results, const Results& alone) {
  const double beats = bench::median(results.beats), latency = bench::median(results.latency_us);
  std::printf("%-28s %6.1f beats/s ratio %4.2f (best %6.1f)   p99 latency %6.0f us ratio %6.2f (best %6.0f)\n", name,
              beats, beats / bench::median(alone.beats), *std::max_element(results.beats.begin(), results.beats.end()),
              latency, latency / bench::median(alone.latency_us), best(results.latency_us));
  std::fflush(stdout);
}

}  // namespace

int main() {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("skipped: %s\n", why->c_str());
    return kSkip;
  }
  PodsByHand pods("suppress-bench");
  const RealCgroup agent(pods.burstable, "podagent");
  TemporaryFolder folder;
  pods.set_shares(pods.top, 262'144);  // preferred to everything else on this machine
  pods.set_shares(pods.burstable, 1024);
  pods.set_shares(agent, 51);  // 50m
  std::map<std::string, Results> all;
  for (int round = 0; round < kRounds; ++round) {
    measure(pods, folder, all["without an agent"]);
    {
      Agent in_shadow(pods, agent, "cfsQuota", "shadow");
      if (!in_shadow.decides()) return 1;
      measure(pods, folder, all["alone"]);
      ChildProcess load([&] { pods.become_load(pods.batch); });
      pods.set_shares(pods.besteffort, 1024);
      measure(pods, folder, all["beside, weight of everybody"]);
      pods.set_shares(pods.besteffort, 2);
      measure(pods, folder, all["beside, weight 2"]);
    }
    ChildProcess load([&] { pods.become_load(pods.batch); });
    for (const char* policy : {"cfsQuota", "cpuset", "cpuIdle"}) {
      Agent enforces(pods, agent, policy, "enforce");
      if (!enforces.decides()) return 1;
      measure(pods, folder, all[policy]);
    }
  }
  for (const char* name : {"without an agent", "alone", "beside, weight of everybody", "beside, weight 2", "cfsQuota",
                           "cpuset", "cpuIdle"})
    print(name, all[name], all["alone"]);
}
