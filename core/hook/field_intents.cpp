// SPDX-License-Identifier: Apache-2.0
#include "core/hook/field_intents.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace koord::hook {
namespace {

// Values of the ABI's field to those of the knob.
std::string same(std::string value) { return value; }
std::string amount_or_max(std::string value) { return value == "-1" ? "max" : value; }
// The runtime's period, if no hook gives another.
std::string quota(std::string value) { return value == "-1" ? "max" : value + " 100000"; }

struct KnobField {
  std::string_view field, knob;
  std::string (*value)(std::string);
};

constexpr KnobField kKnobFields[] = {
    {"linux.cpu.shares", "cpu.shares", same},
    {"linux.cpu.quota", "cpu.max", quota},
    {"linux.cpuset.cpus", "cpuset.cpus", same},
    {"linux.memory.limit", "memory.max", amount_or_max},
};

}  // namespace

FieldIntents intents_of(const host::HookSettings& answer, const AnswerTarget& target) {
  FieldIntents found;
  for (const auto& [field, value] : answer.fields) {
    const auto* known = std::find_if(std::begin(kKnobFields), std::end(kKnobFields),
                                     [&name = field](const KnobField& one) { return one.field == name; });
    if (known == std::end(kKnobFields)) {
      found.creation_only.push_back(field);
      continue;
    }
    found.plan.push_back({.level = target.level,
                          .knob = std::string(known->knob),
                          .cgroup_dir = target.cgroup_dir,
                          .value = known->value(value),
                          .reason = target.reason,
                          .inputs = {{field, value}},
                          .priority = target.priority,
                          .ttl = target.ttl,
                          .role = knob::Role::base});
  }
  return found;
}

}  // namespace koord::hook
