// SPDX-License-Identifier: Apache-2.0
// LadderFixture: a ladder, a service `cart` and pods of all classes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/qos-interference/ladder.hpp"

namespace koord::mitigation::test {

inline constexpr std::uint64_t kSecond = 1'000'000'000;
inline constexpr std::uint64_t kCart = 1, kEtl = 2, kReport = 3, kNightly = 4, kOther = 5;

inline Pod pod(std::uint64_t handle, const std::string& name, Rank rank, double cpus) {
  Pod pod;
  pod.handle = handle;
  pod.name = name;
  pod.cgroup_dir = "kubepods/burstable/" + name;
  pod.rank = rank;
  pod.cpus = cpus;
  pod.memory_bytes = 1e9;
  return pod;
}

inline Verdict verdict(std::vector<Suspect> suspects, Resource resource = Resource::cpu, std::uint64_t id = 12) {
  Verdict verdict;
  verdict.id = id;
  verdict.source = "advisor-interference";
  verdict.victim = kCart;
  verdict.victim_name = "shop/cart/app";
  verdict.resource = resource;
  verdict.method = "exact";
  verdict.suspects = std::move(suspects);
  return verdict;
}

// A node on which a test sets verdicts and advances the time. Every step takes effect, and each round confirms the
// verdicts.
struct LadderFixture {
  LadderFixture() {
    situation.now_ns = 1000 * kSecond;
    situation.pods = {pod(kCart, "cart", Rank::prod, 0.3), pod(kEtl, "etl", Rank::batch, 1.6),
                      pod(kReport, "report", Rank::mid, 1), pod(kNightly, "nightly", Rank::best_effort, 1.2),
                      pod(kOther, "other", Rank::prod, 2)};
  }
  Pod& at(std::uint64_t handle) { return situation.pods[handle - 1]; }
  void blame(std::vector<Suspect> suspects, Resource resource = Resource::cpu) {
    situation.verdicts = {verdict(std::move(suspects), resource)};
  }
  Decision decide(bool is_in_effect = true) {
    for (Verdict& verdict : situation.verdicts)
      if (is_found_again) verdict.to_ns = situation.now_ns;
    Decision decision = ladder.decide(situation);
    for (const Restraint& restraint : decision.restraints)
      for (const Step step : {Step::weight, Step::cap})
        ladder.applied(restraint.cgroup_dir, knob_of(restraint.resource, step), is_in_effect);
    return decision;
  }
  Decision after(std::uint64_t seconds) {
    situation.now_ns += seconds * kSecond;
    return decide();
  }
  Step step_of(std::uint64_t pod, const Decision& decision) const {
    for (const Restraint& restraint : decision.restraints)
      if (restraint.pod == pod) return restraint.step;
    return Step::none;
  }

  Ladder ladder;
  Situation situation;
  bool is_found_again = true;
};

}  // namespace koord::mitigation::test
