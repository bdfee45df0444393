// SPDX-License-Identifier: Apache-2.0
#include "core/hook/field_intents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/host/hook_paths.hpp"

namespace koord::hook {
namespace {

// Long enough for a list of all CPUs of a large machine, one by one.
constexpr std::size_t kMostValue = 4096;
// The default period of runtimes is used if a hook sets no period.
constexpr std::string_view kPeriod = "linux.cpu.period", kDefaultPeriod = "100000";

constexpr std::string_view kCreationFields[] = {"env:", "annotation:", host::kDeviceField, host::kMountField};
constexpr std::size_t kMostCreationFields = 32, kMostName = 128;

// Convert values of a field of the ABI to values of the knob. `period` is in µs.
std::string same(const std::string& value, std::string_view) { return value; }
std::string amount(const std::string& value, std::string_view) { return value == "-1" ? "max" : value; }
std::string quota(const std::string& value, std::string_view period) {
  return value == "-1" ? "max" : value + " " + std::string(period);
}

struct KnobField {
  std::string_view field, knob;
  std::string (*value)(const std::string& value, std::string_view period);
  bool is_of_containers = false;
};

constexpr KnobField kKnobFields[] = {
    {"linux.cpu.shares", "cpu.shares", same},
    {"linux.cpu.quota", "cpu.max", quota},
    {"linux.cpu.idle", "cpu.idle", same},
    {"linux.cpu.bvt_warp_ns", "cpu.bvt_warp_ns", same},
    {"linux.cpuset.cpus", "cpuset.cpus", same},
    {"linux.cpuset.mems", "cpuset.mems", same},
    {"linux.memory.limit", "memory.max", amount},
    {"linux.rdt.closid", "resctrl.group", same},
    {"linux.net_cls.classid", "net_cls.classid", same},
    {.field = "linux.oom_score_adj", .knob = "oom_score_adj", .value = same, .is_of_containers = true},
    {.field = "linux.core_sched.group", .knob = "core_sched.group", .value = same, .is_of_containers = true},
};

const KnobField* find(std::string_view field) {
  const auto* known = std::find_if(std::begin(kKnobFields), std::end(kKnobFields),
                                   [&](const KnobField& one) { return one.field == field; });
  return known == std::end(kKnobFields) ? nullptr : known;
}

std::string_view period_of(const host::HookSettings& answer) {
  const auto period = std::find_if(answer.fields.begin(), answer.fields.end(),
                                   [](const auto& field) { return field.first == kPeriod; });
  return period == answer.fields.end() ? kDefaultPeriod : std::string_view(period->second);
}

// Adds an intent. A value that the knob cannot have, such as an empty set, is left out.
void add_intent(knob::Plan& plan, const AnswerTarget& target, std::string_view knob, std::string value,
                decision::Role role) {
  Result<knob::Intent> intent = knob::make_intent(*knob::find_knob(knob), role, std::move(value));
  if (!intent) return;
  intent->level = target.level;
  intent->cgroup_dir = target.cgroup_dir;
  intent->reason = target.reason;
  intent->priority = target.priority;
  intent->ttl = target.ttl;
  plan.push_back(*std::move(intent));
}

}  // namespace

std::string_view knob_of(std::string_view field) {
  const KnobField* known = find(field);
  return known == nullptr ? std::string_view() : known->knob;
}

std::string knob_value_of(std::string_view field, const std::string& value, std::string_view period) {
  return find(field)->value(value, period.empty() ? kDefaultPeriod : period);
}

std::vector<std::string> creation_fields(const host::HookSettings& answer) {
  std::vector<std::string> names;
  for (const auto& [field, value] : answer.fields)
    for (const std::string_view kind : kCreationFields)
      if (field.starts_with(kind) && names.size() < kMostCreationFields) names.push_back(field.substr(0, kMostName));
  return names;
}

bool is_throttling(std::string_view field, double factor) { return factor < 1 && knob_of(field) == "cpu.max"; }

void keep_knobs(host::HookSettings& answer) {
  std::erase_if(answer.fields, [](const auto& field) {
    return (find(field.first) == nullptr && field.first != kPeriod) || field.second.size() > kMostValue;
  });
  answer.fields.shrink_to_fit();
}

knob::Plan intents_of(const host::HookSettings& answer, const AnswerTarget& target) {
  knob::Plan plan;
  for (const auto& [field, value] : answer.fields) {
    const KnobField* known = find(field);  // the period is part of the quota
    if (known != nullptr && (!known->is_of_containers || target.level == decision::Level::container))
      add_intent(plan, target, known->knob, known->value(value, period_of(answer)), decision::Role::base);
  }
  for (const auto& [field, factor] : answer.scales)
    if (!target.has_own_cpus || !is_throttling(field, factor))
      add_intent(plan, target, find(field)->knob, fmt::format("{}", factor), decision::Role::scale);
  return plan;
}

}  // namespace koord::hook
