// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-interference/intents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "koordetector/plugin.h"

namespace koord::mitigation {
namespace {

using strategy::Inputs;
using strategy::Intent;
using strategy::Intents;

constexpr double kPeriodUs = 100'000, kLeastQuotaUs = 1000;

std::string rounded(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string whole(double value) { return std::to_string(std::llround(value)); }

std::string waits_text(const Cause& cause) {
  if (cause.unit == "seconds/second") return rounded(1000 * cause.waited) + " ms/s";
  return rounded(cause.waited) + (cause.unit.empty() ? "" : " " + cause.unit);
}

std::string value_of(Resource resource, Step step, const Restraint& restraint) {
  if (resource == Resource::memory) return whole(*(step == Step::weight ? restraint.high : restraint.limit));
  if (step == Step::cap) return whole(std::max(*restraint.limit * kPeriodUs, kLeastQuotaUs)) + " " + whole(kPeriodUs);
  return resource == Resource::cpu ? "1" : "default 1";
}

Intent intent_of(const Restraint& restraint, Step step) {
  Intent intent;
  intent.level = KOORD_LEVEL_POD;
  intent.knob = knob_of(restraint.resource, step);
  intent.cgroup_dir = restraint.cgroup_dir;
  intent.value = value_of(restraint.resource, step, restraint);
  intent.role = KOORD_ROLE_CAP;
  intent.reason =
      "step " + std::string(name_of(step)) + ": it holds up " + text_of(restraint.cause, restraint.resource);
  intent.inputs = inputs_of(restraint.cause, restraint.resource);
  intent.inputs.emplace_back("step", name_of(step));
  if (restraint.used > 0) intent.inputs.emplace_back("used_before", rounded(restraint.used));
  return intent;
}

}  // namespace

std::string text_of(const Cause& cause, Resource resource) {
  return cause.victim_name + " (" + std::string(name_of(resource)) + ", " + waits_text(cause) + " of its waits, " +
         whole(100 * cause.share) + " %, " + cause.method + "), verdict " + std::to_string(cause.verdict) + " of " +
         cause.source;
}

Inputs inputs_of(const Cause& cause, Resource resource) {
  return {{"verdict", std::to_string(cause.verdict)},
          {"verdict_from", cause.source},
          {"victim", cause.victim_name},
          {"resource", std::string(name_of(resource))},
          {"method", cause.method},
          {"statistic", cause.statistic},
          {"waited", waits_text(cause)},
          {"share", rounded(cause.share)}};
}

Intents intents_of(const std::vector<Restraint>& restraints, const std::set<std::string, std::less<>>& missing_knobs) {
  Intents intents;
  for (const Restraint& restraint : restraints) {
    const bool has_cap = restraint.step >= Step::cap && restraint.limit;
    // Both steps of memory use the same knob, and the cap is the lower value.
    const bool is_one_knob = restraint.resource == Resource::memory && has_cap;
    if (restraint.has_weight && !is_one_knob) intents.push_back(intent_of(restraint, Step::weight));
    if (has_cap) intents.push_back(intent_of(restraint, Step::cap));
  }
  std::erase_if(intents, [&](const Intent& intent) { return missing_knobs.contains(intent.knob); });
  return intents;
}

}  // namespace koord::mitigation
