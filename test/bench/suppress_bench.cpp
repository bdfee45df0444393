// SPDX-License-Identifier: Apache-2.0
// What qos-cpu-suppress is for, measured on this kernel: a service alone, beside best-effort load (stress-ng, in a class with the
// weight of everybody else, and with the 2 that a kubelet gives it), and with each policy enforced on the latter.
// Throughput is how many beats of fixed work it gets done; latency how late its threads run after their timers, at the 99th
// percentile. Rounds go in turn, so that what else runs here meets all alike; each figure is the median of its rounds.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "test/bench/measure.hpp"
#include "test/support/child_process.hpp"
#include "test/support/suppress_rig.hpp"

using namespace koord;
using namespace koord::test;
using cpu_suppress::Policy;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

namespace {

constexpr auto kRound = 3s;
constexpr auto kBeat = 5ms;
constexpr int kRounds = 5;

// About a third of a beat on a quiet CPU of today.
void work() {
  for (unsigned i = 0; i < 5'000'000; ++i) asm volatile("");
}

struct Beats {
  double count = 0;
  std::vector<double> late_us;
};

Beats one_thread() {
  Beats beats;
  const auto end = Steady::now() + kRound;
  for (auto due = Steady::now(); due < end; due = std::max(due + kBeat, Steady::now() - kBeat)) {
    std::this_thread::sleep_until(due);
    beats.late_us.push_back(std::chrono::duration<double, std::micro>(Steady::now() - due).count());
    work();
    ++beats.count;
  }
  return beats;
}

// A thread for each CPU, in the service's cgroup; tells beats a second and the p99 of lateness.
void serve(const PodsByHand& pods, const std::string& output) {
  pods.service.add_process(::getpid());
  std::vector<Beats> of_threads(pods.cpus());
  std::vector<std::thread> threads;
  for (Beats& beats : of_threads) threads.emplace_back([&beats] { beats = one_thread(); });
  for (std::thread& thread : threads) thread.join();
  Beats all;
  for (const Beats& beats : of_threads) {
    all.count += beats.count;
    all.late_us.insert(all.late_us.end(), beats.late_us.begin(), beats.late_us.end());
  }
  std::sort(all.late_us.begin(), all.late_us.end());
  std::ofstream(output) << all.count / std::chrono::duration<double>(kRound).count() << ' ' << all.late_us[all.late_us.size() * 99 / 100];
}

struct Figures {
  std::vector<double> beats, p99_us;
};

void measure(const PodsByHand& pods, Figures& figures) {
  const std::string output = "/tmp/koord-test-beats-" + std::to_string(::getpid());
  ChildProcess service([&] { serve(pods, output); });
  service.wait(60s);
  double beats = 0, p99 = 0;
  std::ifstream(output) >> beats >> p99;
  ::unlink(output.c_str());
  figures.beats.push_back(beats);
  figures.p99_us.push_back(p99);
}

// A policy is enforced for as long as this lives, decided on anew each second by a thread of its own.
class Enforced {
 public:
  Enforced(const PodsByHand& pods, Policy policy) : rig_(pods, policy, 50) {
    std::this_thread::sleep_for(1s);
    rig_.round();
    applied_ = !rig_.decisions().empty() && rig_.decisions().back().outcome == knob::Outcome::applied;
    loop_ = std::jthread([this](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(1s)) rig_.round();
    });
  }
  bool holds() const { return applied_; }

 private:
  SuppressRig rig_;
  bool applied_ = false;
  std::jthread loop_;
};

void print(const char* name, const Figures& figures, const Figures& alone) {
  const double beats = bench::median(figures.beats), p99 = bench::median(figures.p99_us);
  std::printf("%-44s %8.1f beats/s  ratio %5.2f   p99 %8.0f us  ratio %6.2f\n", name, beats, beats / bench::median(alone.beats), p99,
              p99 / bench::median(alone.p99_us));
  std::fflush(stdout);
}

}  // namespace

int main() {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("skipped: %s\n", why->c_str());
    return kSkip;
  }
  PodsByHand pods("suppress-bench");
  pods.set_shares(pods.top, 262'144);  // whatever else runs on this machine
  pods.set_shares(pods.burstable, 1024);
  const std::map<std::string, Policy> policies = {{"cfsQuota", Policy::cfs_quota}, {"cpuset", Policy::cpuset}, {"cpuIdle", Policy::cpu_idle}};
  std::map<std::string, Figures> all;
  for (int round = 0; round < kRounds; ++round) {
    measure(pods, all["alone"]);
    ChildProcess load([&] { pods.become_load(pods.batch); });
    pods.set_shares(pods.besteffort, 1024);
    measure(pods, all["beside, weight of everybody"]);
    pods.set_shares(pods.besteffort, 2);
    measure(pods, all["beside, weight 2"]);
    for (const auto& [name, policy] : policies) {
      Enforced enforced(pods, policy);
      if (!enforced.holds()) return std::printf("%s was not applied\n", name.c_str()), 1;
      measure(pods, all[name]);
    }
  }
  for (const char* name : {"alone", "beside, weight of everybody", "beside, weight 2", "cfsQuota", "cpuset", "cpuIdle"}) print(name, all[name], all["alone"]);
}
