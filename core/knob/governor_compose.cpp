// SPDX-License-Identifier: Apache-2.0
// Composes the value of each knob: from its intents, the base, and the ancestor and descendant cgroups.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/cgroup/names.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/spec_base.hpp"

namespace koord::knob {
namespace {

constexpr std::string_view kQuota = "cpu.max", kBurst = "cpu.max.burst", kMemoryLimit = "memory.max";

bool is_limit(const KnobKey& key) { return key.resource == kQuota || key.resource == kMemoryLimit; }

// Visits the states of the cgroups inside. The search starts at the directory plus '/', because '-' and '.' sort before
// '/', so the cgroup "a-b" is between "a" and "a/b".
template <class Map, class Visit>
void for_each_inside(Map& states, const KnobKey& key, const Visit& visit) {
  const std::string prefix = key.cgroup_dir.empty() ? "" : key.cgroup_dir + "/";
  for (auto at = states.lower_bound(KnobKey{prefix, "", ""});
       at != states.end() && at->first.cgroup_dir.starts_with(prefix); ++at)
    if (at->first.resource == key.resource && at->first.cgroup_dir != key.cgroup_dir) visit(*at);
}

// The sum of the values of a pod's containers, which the pod's own cgroup needs.
class Sum {
 public:
  explicit Sum(std::int64_t period_us) : value_{0, period_us} {}

  void add(const Value& one) {
    if (one.amount == kUnlimited) {
      value_.amount = kUnlimited;
      return;
    }
    if (value_.amount == kUnlimited) return;
    const bool has_other_period = value_.period_us > 0 && one.period_us > 0 && one.period_us != value_.period_us;
    const long double of_period = static_cast<long double>(one.amount) * static_cast<long double>(value_.period_us);
    value_.amount += has_other_period
                         ? static_cast<std::int64_t>(std::ceil(of_period / static_cast<long double>(one.period_us)))
                         : one.amount;
  }
  const Value& value() const { return value_; }

 private:
  Value value_;
};

}  // namespace

Result<Base> Governor::base_of(const KnobKey& key, const Knob& knob) const {
  std::optional<SpecBase> spec = spec_base(*subjects_, knob, key.cgroup_dir);
  if (spec && spec->is_enforced) return Base{&knob, spec->value, std::move(spec->source)};
  Value before = TRY(executor_.value_before(key, knob));
  spec = spec_base_over(*subjects_, knob, key.cgroup_dir, before);
  if (spec) return Base{&knob, spec->value, std::move(spec->source)};
  return Base{&knob, std::move(before), "original"};
}

// Returns the value that a revert writes instead of the original.
std::optional<Value> Governor::owner_base(const KnobKey& key, const Knob& knob, const Value& before) const {
  const std::optional<SpecBase> spec = spec_base_over(*subjects_, knob, key.cgroup_dir, before);
  return spec && spec->is_reverted_to ? std::optional(spec->value) : std::nullopt;
}

Result<std::string> Governor::base(std::string_view name, std::string_view cgroup_dir) const {
  const std::size_t space = name.find(' ');
  const Knob* knob = TRY(knob_named(name.substr(0, space)));
  const std::string item(space == std::string_view::npos ? std::string_view() : name.substr(space + 1));
  // With a missing or needless item the original would not be found, and the result would be a value of the agent.
  if (item.empty() == has_items(*knob))
    return invalid("the knob is '" + std::string(name) + "', expected " +
                   (item.empty() ? "an item behind it, such as \"io.max 8:16\"" : "no item behind it"));
  if (!cgroup::is_cgroup(cgroup_dir))
    return invalid("cgroup_dir is '" + std::string(cgroup_dir) + "', expected no empty part and no '.'");
  const KnobKey key{std::string(cgroup_dir), std::string(knob->resource), item};
  std::lock_guard lock(mutex_);
  const Base base = TRY(base_of(key, *knob));
  return spell(*knob, base.value);
}

// Returns the intents of strategies with at least this mode, except for intents under hands off.
Governor::Intents Governor::intents_of(const KnobState& state, Mode least) const {
  Intents intents;
  for (ActiveIntent* intent : state.intents)
    if (!intent->hands_off && mode_of(*intent->proposed.proposer) >= least) intents.push_back(intent);
  return intents;
}

OtherParts Governor::other_parts(const Knob& knob, const std::string& cgroup_dir,
                                 const std::set<std::string>& asked) const {
  const KnobKey key{cgroup_dir, std::string(knob.resource), {}};
  OtherParts parts;
  std::lock_guard lock(mutex_);
  if (const auto state = states_.find(key); state != states_.end())
    for (const ActiveIntent* intent : intents_of(state->second, Mode::enforce))
      if (!asked.contains(intent->proposed.proposer->plugin)) parts.intents.push_back(intent->proposed);
  parts.cap = cap_around(key);
  return parts;
}

Result<Composition> Governor::compose_intents(const KnobKey& key, const Intents& intents) const {
  std::vector<const Intent*> proposed;
  proposed.reserve(intents.size());
  for (const ActiveIntent* intent : intents) proposed.push_back(&intent->proposed);
  const Intent& first = *proposed.front();
  const auto base = [&]() -> Result<Base> {
    const bool is_of_pod = first.level == decision::Level::pod || first.level == decision::Level::container;
    const bool has_scale = std::any_of(proposed.begin(), proposed.end(),
                                       [](const Intent* one) { return one->role == decision::Role::scale; });
    // The base would be the current value, which may have been raised before this agent began.
    if (is_of_pod && has_scale && subjects_->of(key.cgroup_dir) == nullptr)
      return invalid("no pod is known of '" + key.cgroup_dir + "', and without its spec no base to scale");
    return base_of(key, *first.knob);
  };
  Result<Composition> composed = compose(proposed, {cap_around(key), floor_inside(key)}, base);
  if (composed && key.resource == kBurst) bound_burst(key.cgroup_dir, *composed);
  return composed;
}

// Limits the burst to the quota without raises (scales of 1 or more). A runtime writes its quota again whenever it
// updates a container, and the kernel refuses a quota below the burst. The runtime's quota may include factors of
// hooks, but never a raise.
void Governor::bound_burst(const std::string& cgroup_dir, Composition& burst) const {
  const KnobKey key{cgroup_dir, std::string(kQuota), {}};
  const auto quota = states_.find(key);
  std::vector<const Intent*> kept;
  if (quota != states_.end())
    for (const ActiveIntent* intent : intents_of(quota->second, Mode::enforce))
      if (intent->proposed.role != decision::Role::scale || intent->proposed.factor < 1)
        kept.push_back(&intent->proposed);
  const Result<Composition> unraised = compose(kept, {}, [&] { return base_of(key, *find_knob(kQuota)); });
  if (!unraised || unraised->value.amount == kUnlimited || unraised->value.amount >= burst.value.amount) return;
  burst.value.amount = unraised->value.amount;
  burst.parts.push_back({decision::Role::cap, burst.knob, burst.value, 1, unraised->winner, {}});
}

// Returns the value of a knob without an intent of its own; nullopt: the knob keeps its value. The value of a pod
// follows from its containers if one of them is composed.
std::optional<Composition> Governor::follow_hierarchy(const KnobKey& key) const {
  const bool may_follow = is_limit(key) || nested_.contains(key.resource);
  if (!may_follow || !key.item.empty()) return std::nullopt;
  Hierarchy hierarchy{cap_around(key), floor_inside(key)};
  if (!hierarchy.cap && !hierarchy.floor) return std::nullopt;
  const Knob& knob = *find_knob(key.resource);
  const std::string& plugin = hierarchy.cap ? hierarchy.cap->plugin : hierarchy.floor->plugin;
  const Subject* subject = subjects_->of(key.cgroup_dir);
  if (subject != nullptr && covers(subject->hands_off, knob, plugin)) return std::nullopt;
  Result<Composition> composed = compose({}, hierarchy, [&] { return base_of(key, knob); });
  if (!composed || (!composed->is_bound_by_hierarchy && !hierarchy.floor)) return std::nullopt;
  return *std::move(composed);
}

// Returns the strictest cap of the ancestor cgroups, without the caps that the pod's hands off excludes.
std::optional<Bound> Governor::cap_around(const KnobKey& key) const {
  if (caps_.empty() || !nested_.contains(key.resource)) return std::nullopt;
  const Subject* subject = subjects_->of(key.cgroup_dir);
  std::optional<Bound> strictest;
  std::string outer = key.cgroup_dir;
  while (!outer.empty()) {
    const std::size_t slash = outer.rfind('/');
    outer.resize(slash == std::string::npos ? 0 : slash);
    const auto cap = caps_.find({outer, key.resource, {}});
    if (cap == caps_.end()) continue;
    if (subject != nullptr && covers(subject->hands_off, *cap->second.knob, cap->second.plugin)) continue;
    if (strictest)
      tighten(*strictest, cap->second);
    else
      strictest = cap->second;
  }
  return strictest;
}

// Returns the sum over the containers of a pod, if the agent composed a value for one of them.
std::optional<Bound> Governor::floor_inside(const KnobKey& key) const {
  if (!is_limit(key)) return std::nullopt;
  const Subject* pod = subjects_->at(key.cgroup_dir);
  if (pod == nullptr || pod->containers.empty()) return std::nullopt;
  Bound floor{find_knob(key.resource), {}};
  const std::int64_t period_us = key.resource == kQuota ? subjects_->quota_rules().period_us : 0;
  Sum sum(period_us), bases(period_us);
  const std::optional<SpecBase> whole = spec_base(*subjects_, *floor.knob, key.cgroup_dir);
  const Composition* largest = nullptr;
  for (const std::string& container : pod->containers) {
    const KnobKey inner{container, key.resource, {}};
    const auto state = states_.find(inner);
    const Result<Base> base = base_of(inner, *floor.knob);
    if (base) bases.add(base->value);
    if (state != states_.end() && state->second.composed) {
      const Composition& composed = *state->second.composed;
      if (largest == nullptr || is_less({*largest->knob, largest->value}, {*composed.knob, composed.value}))
        largest = &composed;
      floor.ttl = std::max(floor.ttl, composed.ttl);
      sum.add(composed.value);
    } else if (base) {
      sum.add(base->value);
    }
  }
  if (largest == nullptr || sum.value().amount == kUnlimited) return std::nullopt;
  floor.value = sum.value();
  // The limit of a pod may be less than the sum of its containers' limits. In that case, the pod gets its limit plus
  // the amount that the containers have above their limits.
  const bool is_less_than_sum =
      whole && whole->value.amount < bases.value().amount && bases.value().amount != kUnlimited;
  if (is_less_than_sum) floor.value.amount -= bases.value().amount - whole->value.amount;
  floor.plugin = largest->winner;
  return floor;
}

// Spreads caps of nested resources to the cgroups inside, that is to cgroups with intents, and to cgroups that have
// more than the cap without an intent.
void Governor::spread_caps() {
  for (std::size_t i = 0; i < dirty_.size(); ++i)
    if (nested_.contains(dirty_[i]->first.resource)) spread_cap(*dirty_[i]);
}

std::optional<Bound> Governor::strictest_cap(const KnobKey& key, const Intents& intents) {
  std::optional<Bound> strictest;
  for (const ActiveIntent* one : intents) {
    const Intent& proposed = one->proposed;
    if (proposed.role != decision::Role::cap) continue;
    const Bound cap{proposed.knob, proposed.parsed, proposed.proposer->plugin, key.cgroup_dir, proposed.ttl};
    if (strictest)
      tighten(*strictest, cap);
    else
      strictest = cap;
  }
  return strictest;
}

void Governor::spread_cap(Entry& entry) {
  const KnobKey& key = entry.first;
  std::optional<Bound> cap = strictest_cap(key, intents_of(entry.second, Mode::enforce));
  entry.second.obstacle = cap ? obstacle_of(key, *cap) : std::string();
  if (!entry.second.obstacle.empty()) cap.reset();
  const auto known = caps_.find(key);
  if (!cap && known == caps_.end()) return;
  const auto mark_inside = [&] { for_each_inside(states_, key, [this](Entry& inner) { mark_dirty(inner); }); };
  if (!cap) {
    caps_.erase(known);
    return mark_inside();
  }
  const bool is_changed =
      known == caps_.end() || !same(*cap->knob, known->second.value, cap->value) || known->second.plugin != cap->plugin;
  const bool is_wider = known != caps_.end() && is_changed &&
                        !exceeds({*known->second.knob, known->second.value}, {*cap->knob, cap->value});
  caps_.insert_or_assign(key, *cap);
  if (is_changed) mark_inside();
  // Searches even if the cap is only due, or if the kernel refused it, because a new cgroup may be inside.
  if (!is_wider || entry.second.outcome != decision::Outcome::applied) find_larger(key, *cap);
}

// Returns why the cap is impossible, if a pod with hands off has more than the cap. In that case the kernel would
// refuse the cap, so other pods would be capped for nothing.
std::string Governor::obstacle_of(const KnobKey& key, const Bound& cap) const {
  const std::string prefix = key.cgroup_dir.empty() ? "" : key.cgroup_dir + "/";
  const auto& kept = subjects_->hands_off();
  for (auto at = kept.lower_bound(prefix); at != kept.end() && at->first.starts_with(prefix); ++at) {
    if (!covers(at->second, *cap.knob, cap.plugin)) continue;
    const KnobKey inner{at->first, key.resource, {}};
    const Result<Value> before = executor_.value_before(inner, *cap.knob);
    const auto state = states_.find(inner);
    const Value* value = before ? &*before : nullptr;
    const Value* composed = state != states_.end() && state->second.composed ? &state->second.composed->value : nullptr;
    if (composed != nullptr && exceeds({*cap.knob, *composed}, {*cap.knob, cap.value})) value = composed;
    if (value != nullptr && exceeds({*cap.knob, *value}, {*cap.knob, cap.value}))
      return "less than is used inside of it: '" + at->first + "' has " + key.resource + " " +
             spell(*cap.knob, *value) + ", and its pod says hands off";
  }
  return {};
}

std::vector<Governor::InnerValue> Governor::values_inside(const KnobKey& key, const Bound& cap) const {
  std::vector<InnerValue> values;
  for (std::string& dir : files_.inner_cgroups(*cap.knob, key.cgroup_dir)) {
    const Result<KnobFiles::Reading> now = files_.read({*cap.knob, dir});
    InnerValue& inner = values.emplace_back(InnerValue{.key = {std::move(dir), key.resource, {}}});
    if (!now) continue;
    inner.value = now->value;
    inner.is_limited = cap.knob->form == Form::set || now->value.amount != kUnlimited;
    inner.is_larger = inner.is_limited && exceeds({*cap.knob, now->value}, {*cap.knob, cap.value});
  }
  return values;
}

// Marks the cgroups inside that have more than the cap. If a limited cgroup does not have more than the cap, the
// cgroups inside of it have no more either, so the search ends there.
void Governor::find_larger(const KnobKey& key, const Bound& cap) {
  for (const InnerValue& inner : values_inside(key, cap)) {
    // A cgroup that a previous agent capped has no more than the cap, but must stay capped.
    const bool is_ours = executor_.holds(inner.key);
    if (inner.is_larger || is_ours) mark_dirty(*states_.try_emplace(inner.key).first);
    if (!inner.is_limited || inner.is_larger || is_ours) find_larger(inner.key, cap);
  }
}

// Marks the pods of dirty containers, because the value of a pod follows from its containers.
void Governor::mark_pods_dirty() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    const auto& [key, state] = *dirty_[i];
    if (!is_limit(key)) continue;
    const std::string_view pod = subjects_->pod_of(key.cgroup_dir);
    if (pod.empty()) continue;
    const bool is_enforced = state.composed || !intents_of(state, Mode::enforce).empty();
    const KnobKey of_pod{std::string(pod), key.resource, {}};
    if (is_enforced || states_.contains(of_pod)) mark_dirty(*states_.try_emplace(of_pod).first);
  }
}

// Returns the level of a knob without an intent.
decision::Level Governor::level_of(const KnobKey& key) const {
  const Subject* subject = subjects_->at(key.cgroup_dir);
  if (subject == nullptr) return decision::Level::qos;
  return subject->container.empty() ? decision::Level::pod : decision::Level::container;
}

}  // namespace koord::knob
