// SPDX-License-Identifier: Apache-2.0
// Runs the strategy in a loop with a model of a node. The strategy is evaluated each second, and its proposals are
// applied. With KOORD_PLOTS=1, writes plots to test/plots/ in the build directory.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>

#include "plugins/qos-cpu-burst/cpu_burst.hpp"
#include "test/support/plant.hpp"
#include "test/support/recording.hpp"

using namespace koord::test;
using koord::slo::BurstPolicy;
using koord::strategy::Intent;
namespace burst = koord::cpu_burst;

namespace {

constexpr unsigned kCpus = 16;
constexpr std::uint64_t kWindowSeconds = 5;
constexpr double kLimitUs = 200'000;

// Services of two cores each that may burst, and other load on the node.
class Loop {
 public:
  Loop(std::vector<Curve> services, Curve others,
       koord::slo::CpuBurst settings = {BurstPolicy::cfs_quota_burst_only, 1000, 300, -1, 50})
      : settings_(settings) {
    for (std::size_t i = 0; i < services.size(); ++i) {
      const std::string pod = "pods/" + std::to_string(i);
      plant_.add(pod + "/web");
      plant_.set(pod, "cpu.max", "200000 100000");
      plant_.set(pod + "/web", "cpu.max", "200000 100000");
      plant_.run(pod + "/web", {.cpu = std::move(services[i]), .queues = true});
      pods_.push_back(pod);
    }
    plant_.add("others");
    plant_.run("others", {.cpu = std::move(others)});
  }

  void run(double seconds) {
    for (const double end = plant_.now() + seconds; plant_.now() < end;) second();
  }

  Plant& plant() { return plant_; }
  Samples of(const std::string& series, double from, double to) const {
    return between(recording_.of(series), from, to);
  }
  std::string summary(const std::string& name, const std::string& title) const {
    plot(recording_, "qos-cpu-burst-" + name, title,
         {{"cores", {"node", "quota", "service"}}, {"% of periods", {"throttled"}}});
    return koord::test::summary(recording_, {"node", "quota", "service", "throttled"}, 8);
  }

 private:
  void second() {
    plant_.advance(1);
    node_.push_back(plant_.of("").cpu_cores);
    if (node_.size() > kWindowSeconds) node_.pop_front();
    apply(burst_.plan(situation()));
    recording_.note("node", plant_.now(), plant_.of("").cpu_cores);
    recording_.note("service", plant_.now(), plant_.of("pods/0").cpu_cores);
    recording_.note("throttled", plant_.now(), plant_.of("pods/0/web").throttled_ratio * 100);
    recording_.note("quota", plant_.now(),
                    std::strtod(plant_.get("pods/0/web", "cpu.max").c_str(), nullptr) / kLimitUs * 2);
  }

  burst::Situation situation() const {
    burst::Situation situation;
    situation.now_ns = static_cast<std::uint64_t>(plant_.now() * 1e9 + 0.5);
    double used = 0;
    for (const double cores : node_) used += cores / static_cast<double>(node_.size());
    situation.pool = burst::Pool{kCpus, used, static_cast<double>(*settings_.share_pool_threshold_percent)};
    for (const std::string& dir : pods_) situation.pods.push_back(pod(dir, situation.now_ns));
    return situation;
  }

  burst::Pod pod(const std::string& dir, std::uint64_t now_ns) const {
    const Measured& measured = plant_.of(dir + "/web");
    burst::Container web;
    web.id = web.name = dir;
    web.cgroup_dir = dir + "/web";
    web.is_running = true;
    web.limit_milli = 2000;
    web.throttled = burst::Throttled{measured.throttled_ratio, now_ns};
    web.usage_cores = measured.cpu_cores;
    return {dir, dir, settings_, 2000, {web}};
  }

  // Does what the host does. A quota is its limit times the factor, or the limit if no factor is proposed.
  void apply(const koord::strategy::Intents& intents) {
    std::map<std::string, double> scales;
    for (const Intent& intent : intents)
      if (intent.knob == "cpu.max") scales[intent.cgroup_dir] = std::strtod(intent.value.c_str(), nullptr);
    for (const std::string& pod : pods_)
      for (const std::string& dir : {pod, pod + "/web"}) {
        const auto scale = scales.find(dir);
        const double quota_us = kLimitUs * (scale == scales.end() ? 1 : scale->second);
        plant_.set(dir, "cpu.max", std::to_string(std::llround(quota_us)) + " 100000");
        burst_.applied(dir, true);
      }
  }

  const koord::slo::CpuBurst settings_;
  Plant plant_{{.cpus = kCpus}};
  std::vector<std::string> pods_;
  burst::CpuBurst burst_{kWindowSeconds * 1'000'000'000};
  std::deque<double> node_;
  Recording recording_;
};

}  // namespace

TEST_CASE("a service that needs more than its limit gets it within ten seconds, and its quota does not change again") {
  Loop loop({step(1, 3.5, 60)}, constant(2));
  loop.run(660);
  CHECK(highest(loop.of("quota", 0, 60)) == 2);
  CHECK(mean(loop.of("service", 90, 660)) == doctest::Approx(3.5).epsilon(0.02));
  CHECK(highest(loop.of("throttled", 90, 660)) == 0);
  CHECK(changes(loop.of("quota", 90, 660)) == 0);
  CHECK(loop.summary("step", "a service needs 3.5 cores from 60 s on") ==
        "node: 3.69 5.5 5.5 5.5 5.5 5.5 5.5 5.5; 3 to 6.98\n"
        "quota: 2.81 5.31 5.31 5.31 5.31 5.31 5.31 5.31; 2 to 5.31\n"
        "service: 1.69 3.5 3.5 3.5 3.5 3.5 3.5 3.5; 1 to 4.98\n"
        "throttled: 7.95 0 0 0 0 0 0 0; 0 to 100\n");
}

TEST_CASE(
    "services that want more than the shared CPUs offer stay below the threshold, and no quota oscillates in an hour") {
  Loop loop({constant(6), constant(6), constant(6)}, noisy(constant(1), 0.5, 5));
  loop.run(3600);
  CHECK(highest(loop.of("node", 60, 3600)) < 8);            // half of 16
  CHECK(mean(loop.of("node", 60, 3600)) > 16 * 0.5 * 0.8);  // and it is used
  CHECK(turns(loop.of("quota", 60, 3600), 0.2) <= 1);
  CHECK(loop.summary("crowd", "three services that want six cores each, limit two") ==
        "node: 7.29 7.32 7.32 7.33 7.32 7.33 7.33 7.32; 6.96 to 7.67\n"
        "quota: 2.1 2.11 2.11 2.11 2.11 2.11 2.11 2.11; 2.02 to 2.11\n"
        "service: 2.1 2.11 2.11 2.11 2.11 2.11 2.11 2.11; 2 to 2.11\n"
        "throttled: 100 100 100 100 100 100 100 100; 100 to 100\n");
}

TEST_CASE("when others need the CPUs the quotas fall, and rise again afterwards, each without a reversal") {
  Loop loop({constant(3.5), constant(3.5)}, step(0.2, 9, 300, 600));
  loop.run(1200);
  CHECK(mean(loop.of("quota", 100, 300)) > 3);
  CHECK(mean(loop.of("quota", 340, 600)) == doctest::Approx(2));
  CHECK(mean(loop.of("quota", 660, 1200)) > 3);
  CHECK(turns(loop.of("quota", 0, 1200), 0.2) <= 3);
  CHECK(loop.summary("others", "others need nine cores from 300 s to 600 s") ==
        "node: 7.15 7.2 13.03 13 7.1 7.2 7.2 7.2; 4.2 to 16\n"
        "quota: 3.49 3.5 2.01 2 3.46 3.5 3.5 3.5; 2 to 3.5\n"
        "service: 3.48 3.5 2.02 2 3.45 3.5 3.5 3.5; 2 to 3.5\n"
        "throttled: 100 100 100 100 100 100 100 100; 100 to 100\n");
}

TEST_CASE("a limiter lets a service burst for its budget and then ends the burst") {
  koord::slo::CpuBurst limited{BurstPolicy::cfs_quota_burst_only, 1000, 200, 60, 50};
  Loop loop({step(0.5, 4, 300, 420)}, constant(1), limited);
  loop.run(3600);
  CHECK(highest(loop.of("quota", 300, 330)) > 3);  // 6000 percent-seconds at 200 % are a minute
  CHECK(highest(loop.of("quota", 400, 420)) < 3);
  CHECK(lowest(loop.of("quota", 0, 300)) == 2);
  CHECK(loop.summary("limiter", "a budget of a minute at twice the limit") ==
        "node: 2.27 1.66 1.5 1.5 1.5 1.5 1.5 1.5; 1.5 to 5\n"
        "quota: 2.27 2 2 2 2 2 2 2; 2 to 4\n"
        "service: 1.27 0.66 0.5 0.5 0.5 0.5 0.5 0.5; 0.5 to 4\n"
        "throttled: 33.33 10.73 0 0 0 0 0 0; 0 to 100\n");
}
