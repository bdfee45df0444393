// SPDX-License-Identifier: Apache-2.0
// What qos-cpu-suppress is for, measured on this kernel: a service alone, beside best-effort load (stress-ng, in a class with the
// weight of everybody else, and with the 2 that a kubelet gives it), and beside it with each policy enforced by the whole agent.
//
// Throughput is how many beats of fixed work it gets done in a second. Latency is what the kernel says that its threads were ready to
// run during a beat and did not (run_delay of schedstat), at the 99th percentile; and how late they run after their timers. Rounds go
// in turn, so that what else runs here meets all alike. Each figure is the median of its rounds, and behind it the best of them: what
// else runs here only ever makes one worse.
#include <fcntl.h>
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

constexpr auto kRound = 2s;
constexpr auto kBeat = 5ms;
constexpr int kRounds = 5;
constexpr int kThresholdPercent = 50;  // of the node; with more, two CPUs are shared by all

// About a third of a beat on a quiet CPU of today.
void work() {
  for (unsigned i = 0; i < 5'000'000; ++i) asm volatile("");
}

struct Beats {
  double count = 0;
  std::vector<double> waited_us, late_us;  // of each
};

// How long the calling thread has been ready to run and did not, by a file that is kept open.
double waited_us(int schedstat) {
  char text[96];
  const ssize_t n = ::pread(schedstat, text, sizeof text - 1, 0);
  if (n <= 0) return 0;
  text[n] = 0;
  char* at = nullptr;
  std::strtoull(text, &at, 10);
  return std::strtod(at, nullptr) / 1e3;
}

// A beat that cannot begin in time is left out: what is late is late once.
Beats one_thread() {
  Beats beats;
  const int schedstat = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  const auto begin = Steady::now();
  for (auto due = begin; due < begin + kRound; due += kBeat * (1 + (Steady::now() - due) / kBeat)) {
    const double before = waited_us(schedstat);
    std::this_thread::sleep_until(due);
    beats.late_us.push_back(std::chrono::duration<double, std::micro>(Steady::now() - due).count());
    work();
    beats.waited_us.push_back(waited_us(schedstat) - before);
    ++beats.count;
  }
  ::close(schedstat);
  return beats;
}

double p99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

// A thread for each CPU, in the service's cgroup; tells beats a second, and the p99 of waiting and of lateness.
void serve(const PodsByHand& pods, const std::string& output) {
  pods.service.add_process(::getpid());
  std::vector<Beats> of_threads(pods.cpus());
  std::vector<std::thread> threads;
  for (Beats& beats : of_threads) threads.emplace_back([&beats] { beats = one_thread(); });
  for (std::thread& thread : threads) thread.join();
  Beats all;
  for (const Beats& beats : of_threads) {
    all.count += beats.count;
    all.waited_us.insert(all.waited_us.end(), beats.waited_us.begin(), beats.waited_us.end());
    all.late_us.insert(all.late_us.end(), beats.late_us.begin(), beats.late_us.end());
  }
  std::ofstream(output) << all.count / std::chrono::duration<double>(kRound).count() << ' ' << p99(all.waited_us) << ' ' << p99(all.late_us);
}

struct Figures {
  std::vector<double> beats, waited_us, late_us;
};

void measure(const PodsByHand& pods, const TemporaryFolder& folder, Figures& figures) {
  ChildProcess service([&] { serve(pods, folder / "beats"); });
  service.wait(60s);
  double beats = 0, waited = 0, late = 0;
  std::ifstream(folder / "beats") >> beats >> waited >> late;
  figures.beats.push_back(beats);
  figures.waited_us.push_back(waited);
  figures.late_us.push_back(late);
}

// An agent that enforces a policy, for as long as this lives. It runs beside the pods, as it would get no CPU from without.
class Enforced {
 public:
  Enforced(const PodsByHand& pods, const RealCgroup& cgroup, const TemporaryFolder& folder, const std::string& policy)
      : agent_("roots: {cgroup: " + pods.root(folder.path()) + "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " +
                   folder / "slo.yaml" + "}}\nqos: {mode: enforce}\n",
               {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"), built("plugins/qos-cpu-suppress")}) {
    agent_.launch({"--set", "plugins.settings={qos-cpu-suppress: {config: {policy: " + policy + "}}}"});
    cgroup.add_process(agent_.process().pid());
    holds_ = eventually([&] { return agent_.get("/api/v1/decisions").find("\"result\":\"applied\"") != std::string::npos; }, 60s);
    if (!holds_) std::printf("%s was not applied:\n%s\n", policy.c_str(), agent_.log().c_str());
  }
  ~Enforced() { agent_.stop(); }
  bool holds() const { return holds_; }

 private:
  AgentProcess agent_;
  bool holds_ = false;
};

double best(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

void print(const char* name, const Figures& figures, const Figures& alone) {
  const double beats = bench::median(figures.beats), most = *std::max_element(figures.beats.begin(), figures.beats.end());
  const double beats_alone = bench::median(alone.beats), waited_alone = bench::median(alone.waited_us), late_alone = bench::median(alone.late_us);
  std::printf("%-28s %6.1f beats/s ratio %4.2f (best %6.1f)   p99 waited %6.0f us ratio %6.2f (best %6.0f)   "
              "late %6.0f us ratio %6.2f (best %6.0f)\n",
              name, beats, beats / beats_alone, most, bench::median(figures.waited_us), bench::median(figures.waited_us) / waited_alone,
              best(figures.waited_us), bench::median(figures.late_us), bench::median(figures.late_us) / late_alone, best(figures.late_us));
  std::fflush(stdout);
}

}  // namespace

int main() {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("skipped: %s\n", why->c_str());
    return kSkip;
  }
  PodsByHand pods("suppress-bench");
  const RealCgroup agent(pods.top, "agent");
  TemporaryFolder folder;
  pods.set_shares(pods.top, 262'144);  // whatever else runs on this machine
  pods.set_shares(pods.burstable, 1024);
  const std::string slo = "{resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: " + std::to_string(kThresholdPercent) + "}}";
  std::map<std::string, Figures> all;
  for (int round = 0; round < kRounds; ++round) {
    measure(pods, folder, all["alone"]);
    ChildProcess load([&] { pods.become_load(pods.batch); });
    pods.set_shares(pods.besteffort, 1024);
    measure(pods, folder, all["beside, weight of everybody"]);
    pods.set_shares(pods.besteffort, 2);
    measure(pods, folder, all["beside, weight 2"]);
    for (const char* policy : {"cfsQuota", "cpuset", "cpuIdle"}) {
      TemporaryFolder of_agent;
      pods.write_files(of_agent.path(), slo);
      Enforced enforced(pods, agent, of_agent, policy);
      if (!enforced.holds()) return 1;
      measure(pods, folder, all[policy]);
    }
  }
  for (const char* name : {"alone", "beside, weight of everybody", "beside, weight 2", "cfsQuota", "cpuset", "cpuIdle"})
    print(name, all[name], all["alone"]);
}
