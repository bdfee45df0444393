// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-interference/ladder.hpp"

#include <algorithm>
#include <iterator>

namespace koord::mitigation {
namespace {

constexpr double kSqueezed = 0.9, kCapped = 0.5;  // fractions of the usage
constexpr double kLeastCpus = 0.05;               // minimum of a cap
// A pod is assumed to want its former usage if it uses at least this fraction of its cap, or of its former usage.
constexpr double kWantsOfCap = 0.8, kWantsOfUse = 0.5;
constexpr unsigned kMostDoublings = 5;
// Maximum delay between the end of a verdict's last window and its posting.
constexpr std::uint64_t kPostingNs = 5'000'000'000;

std::string_view parent_of(std::string_view dir) { return dir.substr(0, std::min(dir.rfind('/'), dir.size())); }

std::optional<double> use_of(const Pod& pod, Resource resource) {
  if (resource == Resource::cpu) return pod.cpus;
  if (resource == Resource::memory) return pod.memory_bytes;
  return std::nullopt;
}

// Returns the limit of a step; nullopt: the usage is unknown, or the limit would take nothing from the pod.
std::optional<double> limit_of(const Pod& pod, Resource resource, double part) {
  const std::optional<double> use = use_of(pod, resource);
  if (!use) return std::nullopt;
  const double least = resource == Resource::cpu ? std::max(pod.cpu_request, kLeastCpus) : pod.memory_request;
  const double limit = std::max(*use * part, least);
  return limit < *use ? std::optional(limit) : std::nullopt;
}

Cause cause_of(const Verdict& verdict, const Suspect& suspect) {
  return {verdict.id,        verdict.victim, verdict.source, verdict.victim_name, verdict.method,
          verdict.statistic, verdict.unit,   suspect.waited, suspect.share};
}

}  // namespace

std::string_view name_of(Rank rank) {
  constexpr std::string_view kNames[] = {"BE", "batch", "mid", "prod"};
  return kNames[static_cast<std::size_t>(rank)];
}

std::string_view name_of(Resource resource) {
  constexpr std::string_view kNames[] = {"cpu", "blkio", "memory"};
  return kNames[static_cast<std::size_t>(resource)];
}

std::string_view name_of(Step step) {
  constexpr std::string_view kNames[] = {"none", "weight", "cap", "evict"};
  return kNames[static_cast<std::size_t>(step)];
}

std::string_view knob_of(Resource resource, Step step) {
  if (step != Step::weight && step != Step::cap) return "";
  switch (resource) {
    case Resource::cpu:
      return step == Step::weight ? "cpu.weight" : "cpu.max";
    case Resource::blkio:
      return step == Step::weight ? "io.weight" : "";
    case Resource::memory:
      return "memory.high";
  }
  return "";
}

Decision Ladder::decide(const Situation& situation) {
  situation_ = &situation;
  pods_.clear();
  for (const Pod& pod : situation.pods) pods_.emplace(pod.handle, &pod);
  Decision decision;
  for (auto at = states_.begin(); at != states_.end();) {
    const Pod* pod = pod_of(at->first.first);
    const bool is_over = !pod || !rules_.restrained.contains(pod->rank) || trim(at->second, decision);
    at = is_over ? states_.erase(at) : std::next(at);
  }
  recent_.follow(situation.verdicts, situation.now_ns, rules_.step_ns);
  const Blames blames = blames_of(situation);
  std::vector<const Blames::value_type*> worst_first;
  for (const auto& blame : blames) worst_first.push_back(&blame);
  std::stable_sort(worst_first.begin(), worst_first.end(), [](const auto* one, const auto* other) {
    return one->second.suspect.waited > other->second.suspect.waited;
  });
  for (auto& [key, state] : states_) state.restraint.is_blamed = blames.contains(key);
  for (const auto* blame : worst_first) raise(blame->first, blame->second, decision);
  for (auto at = states_.begin(); at != states_.end();) {
    const bool is_over = !blames.contains(at->first) && lower(at->second, decision);
    at = is_over ? states_.erase(at) : std::next(at);
  }
  for (const auto& [key, state] : states_)
    if (state.restraint.step != Step::none) decision.restraints.push_back(state.restraint);
  return decision;
}

bool Ladder::knows(std::uint64_t pod) const {
  const auto first = states_.lower_bound({pod, Resource::cpu});
  return first != states_.end() && first->first.first == pod;
}

void Ladder::applied(std::string_view cgroup_dir, std::string_view knob, bool is_in_effect) {
  for (auto& [key, state] : states_) {
    if (state.restraint.cgroup_dir != cgroup_dir) continue;
    if (is_in_effect)
      state.in_effect.emplace(knob);
    else
      state.in_effect.erase(std::string(knob));
  }
}

// Returns for each pod and resource the verdict in which the pod caused the longest waits.
Ladder::Blames Ladder::blames_of(const Situation& situation) const {
  Blames blames;
  for (const Verdict& verdict : situation.verdicts) {
    for (const Suspect& culprit : culprits_of(verdict)) {
      const auto [known, is_new] = blames.try_emplace({culprit.pod, verdict.resource}, Blame{&verdict, culprit});
      if (!is_new && known->second.suspect.waited < culprit.waited) known->second = {&verdict, culprit};
    }
  }
  return blames;
}

// Returns the suspects of the lowest class. Higher classes are added only when all pods of the lower classes have no
// further step.
std::vector<Suspect> Ladder::culprits_of(const Verdict& verdict) const {
  const Pod* victim = pod_of(verdict.victim);
  std::vector<Suspect> culprits;
  if (!victim) return culprits;
  std::map<Rank, std::vector<Suspect>> by_rank;
  for (const Suspect& suspect : verdict.suspects) {
    const Pod* pod = pod_of(suspect.pod);
    const bool is_lower = pod && pod->rank < victim->rank && rules_.restrained.contains(pod->rank);
    if (is_lower && recent_.share(verdict, suspect) >= rules_.least_share) by_rank[pod->rank].push_back(suspect);
  }
  for (const auto& [rank, suspects] : by_rank) {
    culprits.insert(culprits.end(), suspects.begin(), suspects.end());
    const auto used_up = [&](const Suspect& suspect) { return is_used_up(suspect, verdict); };
    if (!std::all_of(suspects.begin(), suspects.end(), used_up)) break;
  }
  return culprits;
}

// Returns whether the pod has been at its last step for the duration of a step, or has no step to take.
bool Ladder::is_used_up(const Suspect& suspect, const Verdict& verdict) const {
  const Pod& pod = *pod_of(suspect.pod);
  const auto known = states_.find({suspect.pod, verdict.resource});
  if (known == states_.end()) {
    State none;
    none.restraint.resource = verdict.resource;
    return next_step(none, pod, verdict.victim) == Step::none;
  }
  const State& state = known->second;
  if (state.restraint.step == Step::none) return next_step(state, pod, verdict.victim) == Step::none;
  if (state.is_refused) return true;
  if (situation_->now_ns - state.changed_ns < rules_.step_ns) return false;
  return state.restraint.step == Step::evict || next_step(state, pod, state.restraint.cause.victim) == Step::none;
}

// Raises limits to the pod's request. Drops steps without effect, because the kernel lacks the knob, or the request has
// grown to the pod's former usage. Returns whether the state can be removed.
bool Ladder::trim(State& state, Decision& decision) const {
  Restraint& restraint = state.restraint;
  const Pod& pod = *pod_of(restraint.pod);
  const double request = restraint.resource == Resource::cpu ? pod.cpu_request : pod.memory_request;
  std::string why = "its request has grown to what it used";
  const auto takes = [&](Step step, std::optional<double>& limit) {
    const std::string_view knob = knob_of(restraint.resource, step);
    if (situation_->missing_knobs.contains(knob)) {
      why = "this node has no " + std::string(knob);
      return false;
    }
    if (limit) limit = std::max(*limit, request);
    return !limit || restraint.used <= 0 || *limit < restraint.used;
  };
  if (!takes(Step::cap, restraint.limit)) restraint.limit.reset();
  if (!takes(Step::weight, restraint.high)) {
    restraint.high.reset();
    restraint.has_weight = false;
  }
  const Step below = restraint.has_weight ? Step::weight : Step::none;
  const Step from = restraint.step;
  if (!restraint.limit) state.probed_from = std::min(state.probed_from, below);
  if (from == Step::none) return state.probed_from == Step::none;
  if (from == below || (from >= Step::cap && restraint.limit)) return false;
  restraint.step = below;
  state.changed_ns = situation_->now_ns;
  decision.changes.push_back({pod.handle, restraint.resource, from, below, std::move(why)});
  return below == Step::none && state.probed_from == Step::none;
}

// Returns whether the pod may be restrained. A pod that is restrained for several resources counts once.
bool Ladder::has_budget(const Pod& pod, Decision& decision) const {
  std::set<std::uint64_t> pods;
  for (const auto& [key, state] : states_)
    if (state.restraint.step != Step::none) pods.insert(key.first);
  if (pods.contains(pod.handle) || pods.size() < rules_.most_pods) return true;
  decision.left_alone.emplace_back(pod.name,
                                   "the budget of " + std::to_string(rules_.most_pods) + " restrained pods is used up");
  return false;
}

void Ladder::raise(const Key& key, const Blame& blame, Decision& decision) {
  const auto known = states_.find(key);
  if (known == states_.end()) return begin(key, blame, decision);
  State& state = known->second;
  const Pod& pod = *pod_of(key.first);
  state.blamed_ns = situation_->now_ns;
  if (!restore(state, pod, blame, decision)) climb(state, pod, blame, decision);
}

void Ladder::begin(const Key& key, const Blame& blame, Decision& decision) {
  const Pod& pod = *pod_of(key.first);
  State state;
  state.restraint.pod = pod.handle;
  state.restraint.name = pod.name;
  state.restraint.cgroup_dir = pod.cgroup_dir;
  state.restraint.resource = key.second;
  state.restraint.used = use_of(pod, key.second).value_or(0);
  state.restraint.is_blamed = true;
  state.blamed_ns = situation_->now_ns;
  const Step first = next_step(state, pod, blame.verdict->victim);
  if (first == Step::none)
    decision.left_alone.emplace_back(pod.name, "no step of the ladder would take anything from it");
  else if (has_budget(pod, decision))
    take_step(states_.emplace(key, std::move(state)).first->second, pod, first, blame, decision);
}

// Restores a step if a verdict blames the pod after a step back.
bool Ladder::restore(State& state, const Pod& pod, const Blame& blame, Decision& decision) {
  if (state.probed_from <= state.restraint.step) return false;
  if (blame.verdict->to_ns <= state.changed_ns) return true;  // the finding is older than the step back
  if (state.restraint.step == Step::none && !has_budget(pod, decision)) return true;
  const Step step = std::exchange(state.probed_from, Step::none);
  ++state.returns;
  // Uses the former cap, because the pod may use less now than it wants.
  take_step(state, pod, std::min(step, Step::cap), blame, decision);
  return true;
}

void Ladder::climb(State& state, const Pod& pod, const Blame& blame, Decision& decision) {
  const Step step = state.restraint.step;
  const std::string_view knob = knob_of(state.restraint.resource, step);
  if (!knob.empty() && !state.in_effect.contains(knob)) {
    mark(state, blame, situation_->now_ns);  // the time of the step begins when it takes effect
    return;
  }
  if (situation_->now_ns - state.changed_ns < rules_.step_ns) return;
  if (!is_blamed_since_step(state, blame)) return;
  const Step next = step == Step::evict ? Step::evict : next_step(state, pod, blame.verdict->victim);
  if (next == Step::evict)
    evict(state, blame, decision);
  else if (next != Step::none)
    take_step(state, pod, next, blame, decision);
}

// Evicts at most one pod of the node in the duration of a step, because the end of one pod may be enough.
void Ladder::evict(State& state, const Blame& blame, Decision& decision) {
  const std::uint64_t now = situation_->now_ns;
  if (evicted_ns_ && now - *evicted_ns_ < rules_.step_ns) return;
  evicted_ns_ = now;
  state.is_refused = false;
  const Pod& pod = *pod_of(state.restraint.pod);
  take_step(state, pod, Step::evict, blame, decision);
  decision.evictions.push_back({pod.handle, pod.name, state.restraint.resource, state.restraint.cause});
}

void Ladder::refused(const Eviction& eviction, Decision& decision) {
  const auto known = states_.find({eviction.pod, eviction.resource});
  if (known == states_.end()) return;
  const auto take_back = [&](Restraint& restraint) {
    if (restraint.pod == eviction.pod && restraint.resource == eviction.resource) restraint.step = Step::cap;
  };
  evicted_ns_.reset();
  known->second.is_refused = true;
  take_back(known->second.restraint);
  for (Restraint& restraint : decision.restraints) take_back(restraint);
  for (Change& change : decision.changes) {
    if (change.pod != eviction.pod || change.resource != eviction.resource || change.to != Step::evict) continue;
    change.to = Step::cap;
    change.why = "its eviction was refused";
  }
  std::erase_if(decision.changes, [](const Change& change) { return change.from == change.to; });
}

bool Ladder::lower(State& state, Decision& decision) {
  const Pod& pod = *pod_of(state.restraint.pod);
  const std::uint64_t now = situation_->now_ns, wait = wait_of(state, pod);
  if (now - std::max(state.blamed_ns, state.changed_ns) < wait) return false;
  Restraint& restraint = state.restraint;
  if (restraint.step == Step::none) return true;
  const Step from = restraint.step;
  const bool has_cap = restraint.limit.has_value();
  restraint.step = from == Step::evict && has_cap                 ? Step::cap
                   : from != Step::weight && restraint.has_weight ? Step::weight
                                                                  : Step::none;
  state.probed_from = std::max(state.probed_from, from);
  state.changed_ns = now;
  decision.changes.push_back(
      {pod.handle, restraint.resource, from, restraint.step,
       "no verdict has blamed it for " + std::to_string((now - state.blamed_ns) / 1'000'000'000) + " s"});
  return false;
}

// Returns the wait before the next step back. It is longer after each restored step. If the step takes nothing from the
// pod, or no victim is left, it is the duration of a step.
std::uint64_t Ladder::wait_of(const State& state, const Pod& pod) const {
  const Restraint& restraint = state.restraint;
  const std::optional<double> use = use_of(pod, restraint.resource);
  bool wants = true;
  if (!pod_of(restraint.cause.victim))
    wants = false;
  else if (restraint.step == Step::weight && restraint.high)
    wants = !use || *use >= kWantsOfCap * *restraint.high;
  else if (restraint.step == Step::weight || restraint.step == Step::none)
    wants = !use || *use >= kWantsOfUse * restraint.used;
  else if (restraint.limit)
    wants = !use || *use >= kWantsOfCap * *restraint.limit;
  return (wants || restraint.step == Step::none ? rules_.probe_ns : rules_.step_ns)
         << std::min(state.returns, kMostDoublings);
}

Step Ladder::next_step(const State& state, const Pod& pod, std::uint64_t victim) const {
  for (const Step step : {Step::weight, Step::cap, Step::evict})
    if (step > state.restraint.step && is_available(step, state, pod, victim)) return step;
  return Step::none;
}

bool Ladder::is_available(Step step, const State& state, const Pod& pod, std::uint64_t victim) const {
  const Resource resource = state.restraint.resource;
  if (step == Step::evict) return rules_.evicts && pod.may_be_evicted && state.restraint.step >= Step::cap;
  const std::string_view knob = knob_of(resource, step);
  if (knob.empty() || situation_->missing_knobs.contains(knob)) return false;
  if (resource == Resource::memory)
    return limit_of(pod, resource, step == Step::weight ? kSqueezed : kCapped).has_value();
  if (step == Step::cap) return limit_of(pod, resource, kCapped).has_value();
  // Weights only compare cgroups of the same parent.
  const Pod* other = pod_of(victim);
  return !(resource == Resource::cpu && pod.is_idle) && other &&
         parent_of(other->cgroup_dir) == parent_of(pod.cgroup_dir);
}

void Ladder::mark(State& state, const Blame& blame, std::uint64_t now_ns) {
  state.mark = sums_of(*blame.verdict, blame.suspect);
  state.found_ns = blame.verdict->to_ns;
  state.changed_ns = now_ns;
}

// Returns whether a finding after the last step blames the pod. The average of a verdict may include windows before the
// step.
bool Ladder::is_blamed_since_step(const State& state, const Blame& blame) const {
  const Verdict& verdict = *blame.verdict;
  if (verdict.to_ns <= std::max(state.changed_ns + kPostingNs, state.found_ns)) return false;
  if (verdict.id != state.mark.verdict || verdict.windows == 0) return true;
  return share_between(state.mark, sums_of(verdict, blame.suspect)).value_or(0) >= rules_.least_share;
}

void Ladder::take_step(State& state, const Pod& pod, Step step, const Blame& blame, Decision& decision) const {
  Restraint& restraint = state.restraint;
  const Step from = restraint.step;
  const Verdict& verdict = *blame.verdict;
  if (step == Step::weight) {
    restraint.has_weight = true;
    if (restraint.resource == Resource::memory && !restraint.high)
      restraint.high = limit_of(pod, restraint.resource, kSqueezed);
  }
  if (step == Step::cap && !restraint.limit) {
    restraint.limit = limit_of(pod, restraint.resource, kCapped);
    restraint.used = std::max(restraint.used, use_of(pod, restraint.resource).value_or(0));
  }
  restraint.step = step;
  restraint.cause = cause_of(verdict, blame.suspect);
  mark(state, blame, situation_->now_ns);
  decision.changes.push_back(
      {pod.handle, restraint.resource, from, step,
       "it holds up " + verdict.victim_name + ": verdict " + std::to_string(verdict.id) + " of " + verdict.source});
}

const Pod* Ladder::pod_of(std::uint64_t handle) const {
  const auto found = pods_.find(handle);
  return found == pods_.end() ? nullptr : found->second;
}

}  // namespace koord::mitigation
