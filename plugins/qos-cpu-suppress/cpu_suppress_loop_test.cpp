// SPDX-License-Identifier: Apache-2.0
// Runs the strategy in a loop with a model of a node. The strategy is evaluated each second, and its proposals are
// applied. With KOORD_PLOTS=1, writes plots to test/plots/ in the build directory.
#include <doctest/doctest.h>

#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"
#include "test/support/plant.hpp"
#include "test/support/recording.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::cpu_suppress;
using namespace koord::test;

namespace {

constexpr const char* kClass = "kubepods/besteffort";
constexpr const char* kServices = "kubepods/services";
constexpr const char* kBatch = "kubepods/besteffort/batch";

std::vector<Cpu> topology_of(unsigned cpus) {
  std::vector<Cpu> topology;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) topology.push_back({cpu, cpu / 2, cpu / 8, cpu / 8});
  return topology;
}

// A node of 16 CPUs with the operating system, services, and batch work that uses all CPU time it gets.
class Loop {
 public:
  Loop(Policy policy, Curve services, Settings settings = {}) : policy_(policy), settings_(settings) {
    for (const char* dir : {"system", kServices, kBatch}) plant_.add(dir);
    plant_.run("system", {.cpu = noisy(constant(0.5), 0.2, 3)});
    plant_.run(kServices, {.cpu = std::move(services), .queues = true});
    plant_.run(kBatch, {.cpu = constant(32)});
  }

  void run(double seconds) {
    for (const double end = plant_.now() + seconds; plant_.now() < end;) second();
  }

  void second() {
    plant_.advance(1);
    decide();
    record();
  }

  // Does what the host does without a decision.
  void end_intents() {
    for (const auto& [knob, original] : originals_) plant_.set(kClass, knob, original);
    originals_.clear();
  }

  std::string summary(const std::string& name, const std::string& title) const {
    plot(recording_, "qos-cpu-suppress-" + name, title,
         {{"cores", {"services", "best-effort", "budget", "granted"}}, {"% waiting", {"services wait"}}});
    return koord::test::summary(recording_, {"services", "best-effort", "budget", "granted", "services wait"}, 12);
  }

  Plant& plant() { return plant_; }
  const Samples& of(const std::string& series) const { return recording_.of(series); }
  Samples of(const std::string& series, double from, double to) const {
    return between(recording_.of(series), from, to);
  }

 private:
  void decide() {
    Inputs inputs;
    inputs.now_ns = static_cast<std::uint64_t>(plant_.now()) * 1'000'000'000;
    inputs.policy = policy_;
    inputs.capacity_milli = 16'000;
    inputs.use = usage::split({.node = plant_.of("").cpu_cores,
                               .pods = {{plant_.of(kServices).cpu_cores, false}, {plant_.of(kBatch).cpu_cores, true}}});
    inputs.pools.online = topology_of(16);
    inputs.targets = {{kClass}, {}, {kBatch}, true};
    last_ = plan(inputs, settings_, memory_);
    apply(last_.intents);
  }

  void apply(const strategy::Intents& intents) {
    std::map<std::string, std::string> originals;
    for (const strategy::Intent& intent : intents) {
      const auto known = originals_.find(intent.knob);
      originals.emplace(intent.knob,
                        known == originals_.end() ? plant_.get(intent.cgroup_dir, intent.knob) : known->second);
      plant_.set(intent.cgroup_dir, intent.knob, intent.value);
    }
    for (const auto& [knob, original] : originals_)
      if (!originals.contains(knob)) plant_.set(kClass, knob, original);
    originals_ = std::move(originals);
  }

  void record() {
    const double t = plant_.now();
    recording_.note("services", t, plant_.of(kServices).cpu_cores);
    recording_.note("services wait", t, plant_.of(kServices).cpu_some.now);
    recording_.note("best-effort", t, plant_.of(kBatch).cpu_cores);
    recording_.note("budget", t, std::max<double>(static_cast<double>(last_.held_milli), 0) / 1000);
    recording_.note("granted", t, static_cast<double>(last_.granted_milli.value_or(16'000)) / 1000);
  }

  const Policy policy_;
  const Settings settings_;
  Plant plant_{{.cpus = 16}};
  Memory memory_;
  Round last_;
  std::map<std::string, std::string> originals_;
  Recording recording_;
};

// 65 % of 16 CPUs minus 0.5 of the system.
constexpr double kRoom = 16 * 0.65 - 0.5;

}  // namespace

TEST_CASE("after a load step of the services, best-effort pods are down within two seconds, without overshoot") {
  for (Policy policy : {Policy::cpuset, Policy::cfs_quota}) {
    Loop loop(policy, step(2, 8, 300));
    loop.run(600);
    const double target = policy == Policy::cpuset ? 2 : kRoom - 8;
    CHECK(settling_seconds(loop.of("granted", 300, 600), target, 0.5) <= 2);
    CHECK(lowest(loop.of("granted", 300, 600)) >= target - 0.5);
    CHECK(mean(loop.of("services", 310, 600)) == doctest::Approx(8).epsilon(0.01));
    CHECK(highest(loop.of("services wait", 310, 600)) < 1);
  }
}

TEST_CASE(
    "after the load falls they have the whole budget within the hold and ten steps, never more, and without a reversal") {
  for (Policy policy : {Policy::cpuset, Policy::cfs_quota}) {
    Loop loop(policy, step(1, 9.5, 0, 300));
    loop.run(600);
    const Samples back = loop.of("granted", 301, 600);
    CHECK(settling_seconds(back, kRoom - 1, 1) <= 30 + 10 + 1);
    CHECK(highest(back) <= kRoom - 1 + 1);
    CHECK(turns(between(back, 301, 345), 0.5) == 0);
    const bool is_cpuset = policy == Policy::cpuset;
    const std::string summary =
        loop.summary(is_cpuset ? "step-back-cpuset" : "step-back-quota", "the services go at 300 s");
    CHECK(summary == (is_cpuset ? "services: 9.5 9.5 9.5 9.5 9.5 9.5 1 1 1 1 1 1; 1 to 11.27\n"
                                  "best-effort: 2.12 2 2 2 2 2 4.62 9 9 9 9 9; 2 to 9\n"
                                  "budget: 0.17 0.31 0.32 0.32 0.34 0.3 3.87 8.83 8.85 8.82 8.81 8.83; 0 to 8.86\n"
                                  "granted: 2.02 2 2 2 2 2 4.76 9 9 9 9 9; 2 to 9\n"
                                  "services wait: 1.39 0 0 0 0 0 0 0 0 0 0 0; 0 to 69.32\n"
                                : "services: 9.5 9.5 9.5 9.5 9.5 9.5 1 1 1 1 1 1; 1 to 11.27\n"
                                  "best-effort: 0.33 0.33 0.33 0.33 0.33 0.33 3.35 8.8 8.8 8.8 8.8 8.8; 0.02 to 8.8\n"
                                  "budget: 0.17 0.31 0.32 0.32 0.34 0.3 3.87 8.83 8.85 8.82 8.81 8.83; 0 to 8.86\n"
                                  "granted: 0.18 0.33 0.33 0.33 0.33 0.33 3.52 8.8 8.8 8.8 8.8 8.8; 0.02 to 8.8\n"
                                  "services wait: 1.39 0 0 0 0 0 0 0 0 0 0 0; 0 to 69.32\n"));
  }
}

TEST_CASE("noise of the services hardly changes the CPUs of best-effort pods in an hour") {
  Loop loop(Policy::cpuset, noisy(constant(5.3), 1.5, 11));
  loop.run(3600);
  CHECK(changes(loop.of("granted", 120, 3600)) <= 1);
  Loop unheld(Policy::cpuset, noisy(constant(5.3), 1.5, 11), {.hold_ns = 0});
  unheld.run(3600);
  CHECK(changes(unheld.of("granted", 120, 3600)) > 50);  // the hold prevents these changes
}

TEST_CASE("noise of the services moves the quota by less than a tenth of the node, and less than once in ten seconds") {
  Loop loop(Policy::cfs_quota, noisy(constant(5.3), 1.5, 11));
  loop.run(3600);
  CHECK(changes(loop.of("granted", 120, 3600)) < 3600 / 10);
  CHECK(highest(loop.of("granted", 120, 3600)) - lowest(loop.of("granted", 120, 3600)) < 1.6);
}

// With a sanitizer it takes two minutes, and the code is the same as in the hours above.
TEST_CASE("over three days of load the services get their demand, and best-effort pods most of the rest" *
          doctest::skip(kSanitized)) {
  for (Policy policy : {Policy::cpuset, Policy::cfs_quota}) {
    Loop loop(policy, noisy(wave(1, 9, 7200), 0.5, 5));
    loop.run(3 * 7200);
    CHECK(mean(loop.of("services")) == doctest::Approx(5).epsilon(0.02));
    CHECK(mean(loop.of("services wait", 100, 3 * 7200)) < 0.1);
    CHECK(mean(loop.of("best-effort")) > 0.85 * (kRoom - 5));
    CHECK(turns(loop.of("granted", 100, 3 * 7200), 2.5) <= 2 * 3);
    const bool is_cpuset = policy == Policy::cpuset;
    const std::string summary = loop.summary(is_cpuset ? "days-cpuset" : "days-quota", "three days of 7200 s");
    CHECK(summary == (is_cpuset
                          ? "services: 2.5 7.5 7.5 2.5 2.5 7.5 7.5 2.5 2.5 7.5 7.5 2.5; 0.74 to 9.26\n"
                            "best-effort: 7.74 2.92 2.6 7.23 7.75 2.91 2.59 7.26 7.7 2.93 2.61 7.24; 2 to 14.32\n"
                            "budget: 7.24 2.23 2.17 7.16 7.23 2.23 2.16 7.17 7.23 2.23 2.17 7.16; 0.56 to 8.78\n"
                            "granted: 7.73 2.92 2.6 7.24 7.75 2.91 2.59 7.26 7.7 2.93 2.62 7.24; 2 to 9\n"
                            "services wait: 0 0 0 0 0 0 0 0 0 0 0 0; 0 to 0\n"
                          : "services: 2.5 7.5 7.5 2.5 2.5 7.5 7.5 2.5 2.5 7.5 7.5 2.5; 0.74 to 9.26\n"
                            "best-effort: 7.31 2.27 2.11 7.12 7.29 2.29 2.12 7.12 7.29 2.3 2.15 7.11; 0.56 to 14.32\n"
                            "budget: 7.24 2.23 2.17 7.16 7.23 2.23 2.16 7.17 7.23 2.23 2.17 7.16; 0.56 to 8.78\n"
                            "granted: 7.3 2.27 2.12 7.12 7.29 2.29 2.13 7.12 7.28 2.29 2.15 7.12; 0.56 to 8.75\n"
                            "services wait: 0 0 0 0 0 0 0 0 0 0 0 0; 0 to 0\n"));
  }
}

TEST_CASE("without the strategy the same services wait") {
  Loop loop(Policy::cpuset, constant(9), {});
  loop.run(60);
  CHECK(mean(loop.of("services wait", 30, 60)) < 0.1);
  loop.end_intents();
  loop.plant().advance(60);
  CHECK(loop.plant().of(kServices).cpu_some.avg60 > 5);
}

TEST_CASE("cpuIdle gives the services their demand and batch work all other time, and writes once") {
  Loop loop(Policy::cpu_idle, noisy(wave(1, 15, 3600), 0.5, 5));
  loop.run(3600);
  CHECK(mean(loop.of("services")) == doctest::Approx(8).epsilon(0.02));
  CHECK(mean(loop.of("best-effort")) > 7.2);
  CHECK(loop.summary("idle", "cpuIdle, one wave of 3600 s") ==
        "services: 1.34 3.23 6.28 9.71 12.76 14.65 14.65 12.76 9.73 6.29 3.23 1.36; 0.75 to 15.2\n"
        "best-effort: 14.15 12.27 9.23 5.79 2.74 0.85 0.85 2.74 5.77 9.21 12.27 14.14; 0.31 to 14.72\n"
        "budget: 8.39 6.54 3.53 0.47 0 0 0 0 0.3 3.17 6.3 8.28; 0 to 8.73\n"
        "granted: 16 16 16 16 16 16 16 16 16 16 16 16; 16 to 16\n"
        "services wait: 0 0 0 0 0 0.01 0.01 0 0 0 0 0; 0 to 0.95\n");
}

TEST_CASE("when the intents end the class has its original values again") {
  for (Policy policy : {Policy::cpuset, Policy::cfs_quota, Policy::cpu_idle}) {
    Loop loop(policy, constant(8));
    loop.run(60);
    loop.end_intents();
    CHECK(loop.plant().get(kClass, "cpuset.cpus") == "");
    CHECK(loop.plant().get(kClass, "cpu.max") == "max 100000");
    CHECK(loop.plant().get(kClass, "cpu.idle") == "0");
  }
}
