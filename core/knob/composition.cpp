// SPDX-License-Identifier: Apache-2.0
#include "core/knob/composition.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/parse.hpp"
#include "core/knob/role.hpp"

namespace koord::knob {
namespace {

// A double represents every integer up to this one exactly.
constexpr std::int64_t kMostScaled = 1LL << 52;

bool is_preferred(const Intent* a, const Intent* b) {
  if (a->priority != b->priority) return a->priority > b->priority;
  const Setting of_a{*a->knob, a->parsed}, of_b{*b->knob, b->parsed};
  if (is_stricter(of_a, of_b)) return true;
  if (is_stricter(of_b, of_a)) return false;
  return std::tie(*a->proposer, a->value) < std::tie(*b->proposer, b->value);
}

const Intent* first_of(std::span<const Intent* const> intents, decision::Role role) {
  const Intent* first = nullptr;
  for (const Intent* one : intents)
    if (one->role == role && (first == nullptr || is_preferred(one, first))) first = one;
  return first;
}

bool has_same_value(const Intent& a, const Intent& b) { return a.knob == b.knob && same(*b.knob, a.parsed, b.parsed); }

Value scaled(const Knob& knob, Value value, double factor) {
  if (value.amount == kUnlimited || factor == 1) return value;
  const bool is_quota = knob.form == Form::bandwidth;
  const std::int64_t most = is_quota ? kMostQuotaUs : kMostScaled;
  const double product =
      std::min(std::floor(static_cast<double>(value.amount) * factor + 0.5), static_cast<double>(most));
  value.amount = std::max(static_cast<std::int64_t>(product), is_quota ? kLeastQuotaUs : knob.least);
  return value;
}

// Returns whether a is less than b; "max" is the largest value.
bool is_field_less(std::string_view a, std::string_view b) {
  if (a == "max" || b == "max") return a != "max" && b == "max";
  return parse_int(a).value_or(0) < parse_int(b).value_or(0);
}

// Returns the value with the smaller (cap) or larger (floor) of the two values in each field. Fields that only the
// bound has are added.
Value bounded_fields(Value value, const Value& bound, bool is_cap) {
  for (const auto& [name, text] : bound.fields) {
    auto [field, is_new] = value.fields.emplace(name, text);
    if (is_new) continue;
    if (is_cap ? is_field_less(text, field->second) : is_field_less(field->second, text)) field->second = text;
  }
  return value;
}

Value common_set(Value value, const Value& cap) {
  const CpuSet common = value.set & cap.set;
  // If the sets have no CPU in common, the cap wins, because an empty set would mean all CPUs.
  value.set = common.empty() ? cap.set : common;
  return value;
}

using Chosen = std::pair<const Knob*, Value>;

// Applies the bound. Returns true if it altered the value.
bool bound_by(Chosen& chosen, const Knob& knob, const Value& bound, bool is_cap) {
  Value value = bound;
  if (knob.form == Form::fields) value = bounded_fields(chosen.second, bound, is_cap);
  if (knob.form == Form::set) value = common_set(chosen.second, bound);
  const bool is_whole = knob.form != Form::fields && knob.form != Form::set;
  const Setting now{*chosen.first, chosen.second}, limit{knob, bound};
  if (is_whole && !(is_cap ? is_less(limit, now) : is_less(now, limit))) return false;
  if (!is_whole && same(knob, chosen.second, value) && same(knob, value, chosen.second)) return false;
  chosen = {&knob, std::move(value)};
  return true;
}

struct Candidates {
  const Intent* set = nullptr;
  const Intent* base = nullptr;
  std::vector<const Intent*> scales, caps, floors;
};

bool outranks(const Intent& one, const Intent* set) { return set == nullptr || one.priority > set->priority; }

Candidates candidates_of(std::span<const Intent* const> intents) {
  Candidates all{.set = first_of(intents, decision::Role::set), .base = first_of(intents, decision::Role::base)};
  if (all.base != nullptr && !outranks(*all.base, all.set)) all.base = nullptr;
  if (all.base != nullptr) all.set = nullptr;
  const Intent* const strongest_set = first_of(intents, decision::Role::set);
  for (const Intent* one : intents) {
    if (one->role == decision::Role::scale && outranks(*one, strongest_set)) all.scales.push_back(one);
    if (one->role == decision::Role::cap) all.caps.push_back(one);
    if (one->role == decision::Role::floor) all.floors.push_back(one);
  }
  const auto by_bound = [](const Intent* a, const Intent* b) {
    return is_less({*a->knob, a->parsed}, {*b->knob, b->parsed});
  };
  const auto by_proposer = [](const Intent* a, const Intent* b) { return *a->proposer < *b->proposer; };
  std::stable_sort(all.scales.begin(), all.scales.end(), by_proposer);
  std::stable_sort(all.caps.begin(), all.caps.end(), by_bound);
  std::stable_sort(all.floors.rbegin(), all.floors.rend(), by_bound);
  return all;
}

Part part_of(const Intent& one) { return {one.role, one.knob, one.parsed, one.factor, one.proposer->plugin}; }

class Composer {
 public:
  Composer(std::span<const Intent* const> intents, const Hierarchy& hierarchy)
      : intents_(intents), hierarchy_(hierarchy), all_(candidates_of(intents)) {}

  Result<Composition> compose(const BaseOf& base_of) {
    TRY(start(base_of));
    double factor = 1;
    for (const Intent* scale : all_.scales) {
      factor *= scale->factor;
      made_.parts.push_back(part_of(*scale));
      if (made_.winner.empty()) made_.winner = scale->proposer->plugin;
    }
    chosen_.second = scaled(*chosen_.first, std::move(chosen_.second), factor);
    bind_floors();
    bind_caps();
    made_.knob = chosen_.first;
    made_.value = std::move(chosen_.second);
    judge();
    return std::move(made_);
  }

 private:
  Result<void> start(const BaseOf& base_of) {
    if (const Intent* given = all_.base ? all_.base : all_.set) {
      chosen_ = {given->knob, given->parsed};
      made_.parts.push_back(part_of(*given));
      made_.winner = given->proposer->plugin;
      made_.chosen = static_cast<std::size_t>(std::find(intents_.begin(), intents_.end(), given) - intents_.begin());
      return {};
    }
    Base base = TRY(base_of());
    made_.parts.push_back({decision::Role::base, base.knob, base.value, 1, {}, std::move(base.source)});
    chosen_ = {base.knob, std::move(base.value)};
    return {};
  }

  void add_bound(Part part, bool is_cap) {
    part.binds = bound_by(chosen_, *part.knob, part.value, is_cap);
    std::string& winner = is_cap ? cap_winner_ : floor_winner_;
    if (part.binds) winner = made_.winner = part.plugin;
    made_.parts.push_back(std::move(part));
  }

  void bind_floors() {
    for (const Intent* floor : all_.floors) add_bound(part_of(*floor), false);
    if (!hierarchy_.floor) return;
    const Bound& floor = *hierarchy_.floor;
    const Value before = chosen_.second;
    add_bound({decision::Role::floor, floor.knob, floor.value, 1, floor.plugin, "its containers"}, false);
    made_.is_bound_by_hierarchy |= made_.parts.back().binds;
    if (!made_.parts.back().binds) made_.parts.pop_back();
  }

  void bind_caps() {
    for (const Intent* cap : all_.caps) add_bound(part_of(*cap), true);
    if (!hierarchy_.cap) return;
    const Bound& cap = *hierarchy_.cap;
    add_bound({decision::Role::cap, cap.knob, cap.value, 1, cap.plugin, cap.cgroup_dir}, true);
    made_.is_bound_by_hierarchy |= made_.parts.back().binds;
  }

  // Decides which intents hold. A cap always holds, and a floor holds if the composed value is not below it. A base or
  // set holds if it was chosen and no bound altered its value. A scale holds if no set replaces it, even when a cap
  // binds. Otherwise its strategy would start again at factor 1 whenever a cap binds, and the factor would depend on
  // the order in which base, scales and cap come.
  void judge() {
    const Intent* strongest_set = first_of(intents_, decision::Role::set);
    const std::string altered_by = !cap_winner_.empty() ? cap_winner_ : floor_winner_;
    for (const Intent* one : intents_) {
      made_.ttl = std::max(made_.ttl, one->ttl);
      made_.verdicts.push_back(judge(*one, strongest_set, altered_by));
    }
    if (intents_.empty() && hierarchy_.cap) made_.ttl = hierarchy_.cap->ttl;
    if (intents_.empty() && hierarchy_.floor) made_.ttl = std::max(made_.ttl, hierarchy_.floor->ttl);
    if (made_.winner.empty() && !intents_.empty()) made_.winner = intents_.front()->proposer->plugin;
  }

  Verdict judge(const Intent& one, const Intent* strongest_set, const std::string& altered_by) const {
    const decision::Role role = one.role;
    const std::string& own = one.proposer->plugin;
    if (role == decision::Role::cap) return {true, own};
    if (role == decision::Role::floor) {
      const bool is_kept =
          !is_less({*made_.knob, made_.value}, {*one.knob, one.parsed}) || one.knob->form == Form::fields;
      return is_kept ? Verdict{true, own} : Verdict{false, cap_winner_};
    }
    if (role == decision::Role::scale) {
      if (!outranks(one, strongest_set)) return {false, strongest_set->proposer->plugin};
      return {true, altered_by.empty() ? own : altered_by};
    }
    const Intent* start = all_.base ? all_.base : all_.set;
    if ((role == decision::Role::set || role == decision::Role::base) && start != &one &&
        (start == nullptr || !has_same_value(*start, one)))
      return {false, start ? start->proposer->plugin : std::string()};
    const bool has_bound = !cap_winner_.empty() || !floor_winner_.empty();
    const bool is_reached =
        role == decision::Role::set && same(*one.knob, made_.value, one.parsed) && made_.knob == one.knob;
    if (has_bound && !is_reached) return {false, altered_by};
    return {true, start->proposer->plugin};
  }

  std::span<const Intent* const> intents_;
  const Hierarchy& hierarchy_;
  Candidates all_;
  Chosen chosen_{nullptr, {}};
  std::string cap_winner_, floor_winner_;
  Composition made_;
};

// Returns the text of a part, without the period if the composed value has the same period.
std::string short_text(const Part& part, const Composition& whole) {
  const bool is_same_period = part.knob->form == Form::bandwidth && part.value.period_us == whole.value.period_us;
  if (!is_same_period) return spell(*part.knob, part.value);
  return part.value.amount == kUnlimited ? "max" : std::to_string(part.value.amount);
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

// Base::source of the original. The original, which is the value before the agent's first write, is the base if neither
// a spec nor an intent decides the base.
constexpr std::string_view kOriginal = "original";

bool is_original(const Part& part) {
  return part.role == decision::Role::base && part.plugin.empty() && part.source == kOriginal;
}

// Returns the source of a part, such as " (qos-cpu-suppress on kubepods/besteffort)".
std::string origin_of(const Part& part) {
  if ((part.plugin.empty() && part.source.empty()) || is_original(part)) return {};
  const bool is_of_another = part.role == decision::Role::cap && !part.source.empty();
  if (is_of_another) return " (" + part.plugin + " on " + part.source + ")";
  return " (" + (part.source.empty() ? part.plugin : part.source) + ")";
}

}  // namespace

bool exceeds(const Setting& value, const Setting& cap) {
  if (cap.knob.form == Form::set) return !cap.value.set.includes(value.value.set);
  return value.value.amount != kUnlimited && is_less(cap, value);
}

void tighten(Bound& bound, const Bound& other) {
  if (bound.knob->form != Form::set) {
    if (is_less({*other.knob, other.value}, {*bound.knob, bound.value})) bound = other;
    return;
  }
  const CpuSet common = bound.value.set & other.value.set;
  if (common.empty() || common == bound.value.set) return;
  if (common == other.value.set)
    bound = other;
  else
    bound.value.set = common;
}

bool is_less(const Setting& a, const Setting& b) {
  return a.knob.large_is_strict ? is_stricter(b, a) : is_stricter(a, b);
}

Result<Composition> compose(std::span<const Intent* const> intents, const Hierarchy& hierarchy, const BaseOf& base_of) {
  return Composer(intents, hierarchy).compose(base_of);
}

std::string equation(const Composition& composition) {
  std::string text = std::string(composition.knob->name) + " " + spell(*composition.knob, composition.value) + " =";
  bool has_cap = false;
  for (const Part& part : composition.parts) {
    has_cap |= part.role == decision::Role::cap;
    if (part.role == decision::Role::scale)
      text += " × " + number_text(part.factor);
    else
      text += (&part == composition.parts.data() ? " " : ", ") +
              std::string(is_original(part) ? kOriginal : name_of(part.role)) + " " + short_text(part, composition);
    text += origin_of(part);
  }
  const bool may_have_cap = takes_role(*composition.knob, decision::Role::cap);
  return text + (has_cap || !may_have_cap ? "" : ", no cap");
}

}  // namespace koord::knob
