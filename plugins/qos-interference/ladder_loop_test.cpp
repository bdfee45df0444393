// SPDX-License-Identifier: Apache-2.0
// Runs the ladder in a loop with a model of a node. The harm that pods do to a service depends on their demand, weight
// and cap. A verdict stands according to the windows of the advisor's rule. With KOORD_PLOTS=1, writes plots to
// test/plots/ in the build directory.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "plugins/qos-interference/ladder.hpp"
#include "test/support/plant.hpp"
#include "test/support/recording.hpp"

using namespace koord::mitigation;
using koord::test::constant;
using koord::test::Curve;

namespace {

constexpr std::uint64_t kVictim = 1;
constexpr double kLimit = 0.010;  // limit of the rule, seconds per second

// A pod that runs at the same time as the service. While it runs, the service waits `harm` seconds for each of its CPU
// seconds; at the minimum weight, the fraction `at_least_weight` of these seconds.
struct Neighbour {
  std::string name;
  Rank rank = Rank::batch;
  Curve demand;
  double harm = 0.02, at_least_weight = 0.05;
};

class Loop {
 public:
  explicit Loop(std::vector<Neighbour> neighbours, Rules rules = {}, Rank victim = Rank::prod)
      : neighbours_(std::move(neighbours)), ladder_(std::move(rules)) {
    situation_.pods.push_back(pod("cart", kVictim, victim));
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      situation_.pods.push_back(pod(neighbours_[i].name, i + 2, neighbours_[i].rank));
    restraints_.resize(neighbours_.size());
  }

  void run(int seconds) {
    for (int i = 0; i < seconds; ++i) second();
  }

  const koord::test::Recording& recording() const { return recording_; }
  koord::test::Samples steps(const std::string& pod, double from = 0) const {
    return koord::test::between(recording_.of(pod), from, 1e9);
  }
  double held_up(double from, double to) const {
    return koord::test::mean(koord::test::between(recording_.of("held up"), from, to));
  }
  std::size_t most_restrained() const { return most_restrained_; }
  std::size_t evictions() const { return evictions_; }

 private:
  static Pod pod(const std::string& name, std::uint64_t handle, Rank rank) {
    Pod pod;
    pod.handle = handle;
    pod.name = name;
    pod.cgroup_dir = "kubepods/burstable/" + name;
    pod.rank = rank;
    return pod;
  }

  void second() {
    t_ += 1;
    std::vector<double> waited;
    double all = 0;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const Neighbour& neighbour = neighbours_[i];
      const Restraint& restraint = restraints_[i];
      double cpus = neighbour.demand(t_);
      if (restraint.step >= Step::cap && restraint.limit) cpus = std::min(cpus, *restraint.limit);
      situation_.pods[i + 1].cpus = cpus;
      waited.push_back(cpus * neighbour.harm *
                       (restraint.has_weight && restraint.step != Step::none ? neighbour.at_least_weight : 1));
      all += waited.back();
    }
    judge(waited, all);
    decide();
    recording_.note("held up", t_, 1000 * all);
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      recording_.note(neighbours_[i].name, t_, static_cast<double>(restraints_[i].step));
  }

  // Judges as core/analysis does. Three of five windows confirm a verdict, and it is cleared ten seconds after the last
  // window with a finding. The values are averages over the windows with a finding.
  void judge(const std::vector<double>& waited, double all) {
    const bool is_over = all >= kLimit;
    over_.push_back(is_over);
    if (over_.size() > 5) over_.pop_front();
    if (is_over) last_over_ = t_;
    if (!stands_ && std::count(over_.begin(), over_.end(), true) >= 3) {
      stands_ = true;
      ++id_;
      windows_ = 0;
      sums_.assign(waited.size(), 0);
    }
    if (stands_ && t_ - last_over_ >= 10) stands_ = false;
    situation_.verdicts.clear();
    if (!stands_) return;
    if (is_over) {
      ++windows_;
      for (std::size_t i = 0; i < waited.size(); ++i) sums_[i] += waited[i];
    }
    double sum = 0;
    for (const double one : sums_) sum += one;
    Verdict verdict;
    verdict.id = id_;
    verdict.victim = kVictim;
    verdict.windows = windows_;
    verdict.to_ns = static_cast<std::uint64_t>(last_over_) * 1'000'000'000;
    for (std::size_t i = 0; i < waited.size(); ++i)
      verdict.suspects.push_back({i + 2, sums_[i] / windows_, sum > 0 ? sums_[i] / sum : 0});
    situation_.verdicts = {verdict};
  }

  void decide() {
    situation_.now_ns = static_cast<std::uint64_t>(t_) * 1'000'000'000;
    const Decision decision = ladder_.decide(situation_);
    restraints_.assign(neighbours_.size(), {});
    for (const Restraint& restraint : decision.restraints) {
      restraints_[restraint.pod - 2] = restraint;
      for (const Step step : {Step::weight, Step::cap})
        ladder_.applied(restraint.cgroup_dir, knob_of(restraint.resource, step), true);
    }
    most_restrained_ = std::max(most_restrained_, decision.restraints.size());
    evictions_ += decision.evictions.size();
  }

  std::vector<Neighbour> neighbours_;
  Ladder ladder_;
  Situation situation_;
  std::vector<Restraint> restraints_;
  std::deque<bool> over_;
  bool stands_ = false;
  double t_ = 0, last_over_ = -1e9;
  std::uint64_t id_ = 0;
  std::uint32_t windows_ = 0;
  std::vector<double> sums_;
  std::size_t most_restrained_ = 0, evictions_ = 0;
  koord::test::Recording recording_;
};

Curve busy(double cpus, double from, double to = 1e18) { return koord::test::step(0, cpus, from, to); }

}  // namespace

TEST_CASE("a hog is at its last step within two steps, and is released within three minutes after its end") {
  struct Row {
    double at_least_weight;
    double step;  // the smallest sufficient step
  };
  for (const Row& row : {Row{0.05, 1}, Row{0.4, 2}}) {
    Loop loop({{"etl", Rank::batch, busy(1.6, 60, 1000), 0.02, row.at_least_weight}});
    loop.run(2000);
    CHECK(koord::test::highest(loop.steps("etl")) == row.step);
    CHECK(koord::test::settling_seconds(koord::test::between(loop.recording().of("etl"), 60, 600), row.step, 0) <= 70);
    CHECK(loop.held_up(140, 600) < 1000 * kLimit);
    CHECK(koord::test::highest(loop.steps("etl", 1190)) == 0);
    CHECK(loop.evictions() == 0);
    koord::test::plot(loop.recording(), row.step == 1 ? "qos-interference-weight" : "qos-interference-cap",
                      "a hog from 60 s to 1000 s", {{"ms/s", {"held up"}}, {"step", {"etl"}}});
  }
}

TEST_CASE("a hog that never ends is probed a few times an hour, and less often over time") {
  Loop loop({{"etl", Rank::batch, busy(1.6, 60)}});
  loop.run(8 * 3600);
  CHECK(koord::test::changes(koord::test::between(loop.recording().of("etl"), 0, 3600)) <= 5);
  CHECK(koord::test::changes(koord::test::between(loop.recording().of("etl"), 7200, 8 * 3600)) <= 6);
  CHECK(loop.held_up(100, 8 * 3600) < 0.1 * 1000 * 1.6 * 0.02);
}

TEST_CASE("two pods of the same class are never restrained, even if one slows down the other") {
  for (const Rank rank : {Rank::best_effort, Rank::batch, Rank::mid, Rank::prod}) {
    Loop loop({{"one", rank, busy(1.6, 10)}, {"two", rank, busy(1, 10)}}, {}, rank);
    loop.run(3600);
    CHECK(koord::test::highest(loop.recording().of("one")) == 0);
    CHECK(koord::test::highest(loop.recording().of("two")) == 0);
  }
}

TEST_CASE("two equal hogs of a lower class get the same steps, and neither oscillates") {
  Loop loop({{"one", Rank::batch, busy(1, 10)}, {"two", Rank::batch, busy(1, 10)}});
  loop.run(3600);
  for (const char* pod : {"one", "two"}) CHECK(koord::test::changes(loop.recording().of(pod)) <= 5);
  CHECK(loop.held_up(60, 3600) < 1000 * kLimit);
}

TEST_CASE("the budget of the node is never exceeded, and other pods stay unrestrained") {
  std::vector<Neighbour> hogs;
  for (int i = 0; i < 4; ++i) hogs.push_back({"hog-" + std::to_string(i), Rank::batch, busy(1, 10), 0.02, 0.3});
  Loop loop(std::move(hogs), {.most_pods = 2, .evicts = false});
  loop.run(3600);
  CHECK(loop.most_restrained() == 2);
}

TEST_CASE("a harmless neighbour of a hog is not restrained") {
  Loop loop({{"etl", Rank::batch, busy(1.6, 10)}, {"small", Rank::best_effort, constant(0.1)}});
  loop.run(1800);
  CHECK(koord::test::highest(loop.recording().of("etl")) >= 1);
  CHECK(koord::test::highest(loop.recording().of("small")) == 0);
}

TEST_CASE("bursts of a hog do not make the ladder oscillate: each probe waits longer") {
  const auto bursts = [](double t) { return std::fmod(t, 180) < 60 ? 1.6 : 0; };
  Loop loop({{"etl", Rank::batch, bursts}});
  loop.run(4 * 3600);
  CHECK(koord::test::changes(koord::test::between(loop.recording().of("etl"), 0, 3600)) <= 12);
  // At the end there is only one release and one restored step in 32 minutes.
  CHECK(koord::test::changes(koord::test::between(loop.recording().of("etl"), 3600, 4 * 3600)) <= 12);
}
