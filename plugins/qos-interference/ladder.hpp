// SPDX-License-Identifier: Apache-2.0
// Ladder: decides how far a pod is restrained if it slows down a pod of a higher class. While a verdict blames the
// pod, it takes a step up, but at most one per step interval. When no verdict blames it any more, the steps are
// withdrawn in reverse order. If the pod still wants its former usage, a step back is a probe: if a verdict follows,
// the step is restored immediately, and the next probe waits twice as long. Pure: no clock, no files. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/qos-interference/recent_waits.hpp"
#include "plugins/qos-interference/verdict.hpp"

namespace koord::mitigation {

// Classes of pods, the lowest first. A pod is restrained only for pods of a higher class.
enum class Rank : std::uint8_t { best_effort, batch, mid, prod };
std::string_view name_of(Rank rank);

// Steps of a restraint. Each step includes the steps before it.
enum class Step : std::uint8_t {
  none,
  weight,  // the minimum weight; for memory: memory.high at nine tenths of the usage
  cap,     // half of the usage
  evict,
};
std::string_view name_of(Step step);

// Returns the knob of a step; "" if it has no knob.
std::string_view knob_of(Resource resource, Step step);

struct Pod {
  std::uint64_t handle = 0;
  std::string name, cgroup_dir;
  Rank rank = Rank::prod;
  double cpu_request = 0, memory_request = 0;  // CPUs, bytes; minimum of a cap
  std::optional<double> cpus, memory_bytes;    // usage; nullopt: unknown
  bool is_idle = false;                        // cpu.idle is set: its weight has no effect
  bool may_be_evicted = true;                  // according to its own annotation
};

struct Rules {
  std::uint64_t step_ns = 60'000'000'000;    // minimum time between two steps of a pod
  std::uint64_t probe_ns = 600'000'000'000;  // time before a step is undone although the pod still wants its former
                                             // usage; doubles after each restored step
  double least_share = 0.2;                  // minimum share of the victim's waits to be restrained for
  std::size_t most_pods = 5;                 // maximum number of restrained pods
  bool evicts = true;
  std::set<Rank> restrained = {Rank::best_effort, Rank::batch, Rank::mid};
};

struct Situation {
  std::uint64_t now_ns = 0;
  std::vector<Pod> pods;
  std::vector<Verdict> verdicts;
  std::set<std::string, std::less<>> missing_knobs;  // knobs that this kernel lacks
};

// The verdict that caused a step, with its values at the time of the step.
struct Cause {
  std::uint64_t verdict = 0, victim = 0;
  std::string source, victim_name, method, statistic, unit;
  double waited = 0, share = 0;
};

struct Restraint {
  std::uint64_t pod = 0;
  std::string name, cgroup_dir;
  Resource resource = Resource::cpu;
  Step step = Step::none;
  bool has_weight = false;            // whether the step `weight` is in effect, too
  std::optional<double> high, limit;  // bytes of the step `weight` of memory; CPUs or bytes of the step `cap`
  double used = 0;                    // usage before the first step
  Cause cause;
  bool is_blamed = false;  // a standing verdict blames it now
};

struct Eviction {
  std::uint64_t pod = 0;
  std::string name;
  Resource resource = Resource::cpu;
  Cause cause;
};

struct Change {
  std::uint64_t pod = 0;
  Resource resource = Resource::cpu;
  Step from = Step::none, to = Step::none;
  std::string why;  // a sentence for an operator
};

struct Decision {
  std::vector<Restraint> restraints;
  std::vector<Eviction> evictions;
  std::vector<Change> changes;
  std::vector<std::pair<std::string, std::string>> left_alone;  // blamed pods that are not restrained, with the reason
};

class Ladder {
 public:
  explicit Ladder(Rules rules = {}) : rules_(std::move(rules)) {}
  void set_rules(Rules rules) { rules_ = std::move(rules); }

  Decision decide(const Situation& situation);
  // Returns whether no pod is restrained or tracked. If so, decide() returns nothing while there are no verdicts.
  bool is_empty() const { return states_.empty(); }
  // Returns whether this pod is restrained or tracked.
  bool knows(std::uint64_t pod) const;

  // Reports whether the knob of a step has the proposed value or a stricter one. No further step follows a step that is
  // not in effect (in shadow mode, or with hands-off).
  void applied(std::string_view cgroup_dir, std::string_view knob, bool is_in_effect);

  // Reports that the host refused an eviction of this decision. The pod returns to its cap, in the ladder and in the
  // decision, and a different pod may be evicted.
  void refused(const Eviction& eviction, Decision& decision);

 private:
  using Key = std::pair<std::uint64_t, Resource>;  // a pod and a resource

  struct State {
    Restraint restraint;
    Sums mark;  // sums of the verdict when the last step was taken
    std::uint64_t changed_ns = 0, blamed_ns = 0;
    std::uint64_t found_ns = 0;                    // Verdict::to_ns when the last step was taken
    Step probed_from = Step::none;                 // above `step`: this step was undone, and a verdict would restore it
    unsigned returns = 0;                          // how often a step was restored
    bool is_refused = false;                       // its eviction was refused
    std::set<std::string, std::less<>> in_effect;  // knobs in effect
  };
  struct Blame {
    const Verdict* verdict;
    Suspect suspect;
  };
  using Blames = std::map<Key, Blame>;

  Blames blames_of(const Situation& situation) const;
  std::vector<Suspect> culprits_of(const Verdict& verdict) const;
  bool is_used_up(const Suspect& suspect, const Verdict& verdict) const;
  bool trim(State& state, Decision& decision) const;
  bool has_budget(const Pod& pod, Decision& decision) const;
  void raise(const Key& key, const Blame& blame, Decision& decision);
  void begin(const Key& key, const Blame& blame, Decision& decision);
  void climb(State& state, const Pod& pod, const Blame& blame, Decision& decision);
  bool restore(State& state, const Pod& pod, const Blame& blame, Decision& decision);
  void evict(State& state, const Blame& blame, Decision& decision);
  // Returns whether the state can be removed.
  bool lower(State& state, Decision& decision);
  std::uint64_t wait_of(const State& state, const Pod& pod) const;
  Step next_step(const State& state, const Pod& pod, std::uint64_t victim) const;
  bool is_available(Step step, const State& state, const Pod& pod, std::uint64_t victim) const;
  static void mark(State& state, const Blame& blame, std::uint64_t now_ns);
  bool is_blamed_since_step(const State& state, const Blame& blame) const;
  void take_step(State& state, const Pod& pod, Step step, const Blame& blame, Decision& decision) const;
  const Pod* pod_of(std::uint64_t handle) const;

  Rules rules_;
  std::map<Key, State> states_;
  RecentWaits recent_;
  std::optional<std::uint64_t> evicted_ns_;
  // For the current decide():
  const Situation* situation_ = nullptr;
  std::map<std::uint64_t, const Pod*> pods_;
};

}  // namespace koord::mitigation
