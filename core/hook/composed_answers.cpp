// SPDX-License-Identifier: Apache-2.0
#include "core/hook/composed_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/hook/field_intents.hpp"

namespace koord::hook {
namespace {

using Setting = host::HookVerdict::Setting;

constexpr std::string_view kQuotaField = "linux.cpu.quota", kPeriodField = "linux.cpu.period";

// All values of one field, in the order of the plugins' ids.
struct FieldValues {
  std::string field;
  std::vector<Setting> values;
  std::optional<std::size_t> chosen;
};
using AllValues = std::vector<FieldValues>;

void add_value(AllValues& all, Setting setting) {
  auto known = std::find_if(all.begin(), all.end(), [&](const FieldValues& one) { return one.field == setting.field; });
  if (known == all.end()) known = all.insert(all.end(), {setting.field, {}, {}});
  known->values.push_back(std::move(setting));
}

AllValues take_values(host::HookVerdict& verdict) {
  AllValues all;
  for (Setting& setting : std::exchange(verdict.settings, {})) add_value(all, std::move(setting));
  for (Setting& setting : std::exchange(verdict.agreed, {})) add_value(all, std::move(setting));
  for (host::HookVerdict::Conflict& one : std::exchange(verdict.conflicts, {}))
    add_value(all, {std::move(one.field), std::move(one.value), std::move(one.plugin)});
  for (FieldValues& field : all)
    std::stable_sort(field.values.begin(), field.values.end(),
                     [](const Setting& a, const Setting& b) { return a.plugin < b.plugin; });
  return all;
}

FieldValues* find_values(AllValues& all, std::string_view field) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const FieldValues& one) { return one.field == field; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<std::size_t> index_of(const FieldValues& field, std::string_view plugin) {
  const auto found =
      std::find_if(field.values.begin(), field.values.end(), [&](const Setting& one) { return one.plugin == plugin; });
  if (found == field.values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - field.values.begin());
}

Result<knob::Intent> hook_intent(const std::string& plugin, std::string_view field, decision::Role role,
                                 std::string value) {
  knob::Intent intent = TRY(knob::make_intent(*knob::find_knob(knob_of(field)), role, std::move(value)));
  intent.level = decision::Level::container;
  intent.priority = kHookPriority;
  intent.proposer = std::make_shared<const decision::Proposer>(decision::Proposer{plugin, {}});
  return intent;
}

Result<knob::Intent> base_intent(std::string_view field, const Setting& setting, std::string_view period) {
  return hook_intent(setting.plugin, field, decision::Role::base, knob_value_of(field, setting.value, period));
}

std::vector<const knob::Intent*> pointers_to(const knob::Plan& intents) {
  std::vector<const knob::Intent*> pointers;
  for (const knob::Intent& one : intents) pointers.push_back(&one);
  return pointers;
}

// Returns the index of the value that the governor would choose. Values that the knob cannot have, such as an empty
// set, are left out.
std::size_t preferred(const FieldValues& field, const FieldValues* periods) {
  knob::Plan intents;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    const Setting& setting = field.values[i];
    const auto period = periods ? index_of(*periods, setting.plugin) : std::nullopt;
    Result<knob::Intent> intent = base_intent(
        field.field, setting, period ? std::string_view(periods->values[*period].value) : std::string_view());
    if (!intent) continue;
    intents.push_back(*std::move(intent));
    indices.push_back(i);
  }
  if (intents.empty()) return 0;
  const std::vector<const knob::Intent*> pointers = pointers_to(intents);
  const Result<knob::Composition> made = knob::compose(
      pointers, {}, []() -> Result<knob::Base> { return invalid("no base is needed where a hook gives one"); });
  return made && made->chosen ? indices[*made->chosen] : 0;
}

void keep(host::HookVerdict& verdict, FieldValues field, std::string_view quota_by) {
  const std::string value = field.chosen ? field.values[*field.chosen].value : std::string();
  const std::string plugin = field.chosen ? field.values[*field.chosen].plugin : std::string(quota_by);
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    Setting& one = field.values[i];
    if (field.chosen == i)
      verdict.settings.push_back(std::move(one));
    else if (field.chosen && one.value == value)
      verdict.agreed.push_back(std::move(one));
    else
      verdict.conflicts.push_back({std::move(one.field), std::move(one.value), std::move(one.plugin), plugin});
  }
}

knob::Plan intents_of(const host::HookVerdict& verdict, std::string_view field) {
  knob::Plan intents;
  const auto add = [&](Result<knob::Intent> intent) {
    if (intent) intents.push_back(*std::move(intent));
  };
  if (const Setting* setting = find_setting(verdict, field)) {
    const Setting* period = find_setting(verdict, kPeriodField);
    add(base_intent(field, *setting, period ? std::string_view(period->value) : std::string_view()));
  }
  for (const host::HookVerdict::Scale& scale : verdict.scales)
    if (scale.field == field)
      add(hook_intent(scale.plugin, field, decision::Role::scale, fmt::format("{}", scale.factor)));
  return intents;
}

}  // namespace

const host::HookVerdict::Setting* find_setting(const host::HookVerdict& verdict, std::string_view field) {
  const auto found = std::find_if(verdict.settings.begin(), verdict.settings.end(),
                                  [&](const Setting& one) { return one.field == field; });
  return found == verdict.settings.end() ? nullptr : &*found;
}

void choose_settings(host::HookVerdict& verdict) {
  AllValues all = take_values(verdict);
  FieldValues* const quota = find_values(all, kQuotaField);
  FieldValues* const period = find_values(all, kPeriodField);
  std::string quota_by;
  for (FieldValues& field : all)
    if (&field != period) field.chosen = knob_of(field.field).empty() ? 0 : preferred(field, period);
  if (quota != nullptr) quota_by = quota->values[*quota->chosen].plugin;
  if (period != nullptr) period->chosen = quota == nullptr ? 0 : index_of(*period, quota_by);
  for (FieldValues& field : all) keep(verdict, std::move(field), quota_by);
}

std::optional<knob::Value> compose_field(const host::HookVerdict& verdict, std::string_view field,
                                         const std::optional<std::string>& requested, const OtherPartsOf& others) {
  const knob::Knob& knob = *knob::find_knob(knob_of(field));
  knob::Plan intents = intents_of(verdict, field);
  if (intents.empty()) return std::nullopt;
  knob::OtherParts more = others ? others(knob) : knob::OtherParts();
  std::move(more.intents.begin(), more.intents.end(), std::back_inserter(intents));
  const std::vector<const knob::Intent*> pointers = pointers_to(intents);
  const auto base_of = [&]() -> Result<knob::Base> {
    if (!requested) return invalid("the runtime's request has no value");
    knob::Value value = TRY(knob::parse_value(knob, *requested));
    return knob::Base{&knob, std::move(value), "request"};
  };
  Result<knob::Composition> made = knob::compose(pointers, {.cap = std::move(more.cap)}, base_of);
  // A strategy's cpu.weight cannot replace a value of cpu.shares here. The governor sets it when the container exists.
  if (made && made->knob != &knob && others) return compose_field(verdict, field, requested, {});
  return made ? std::optional(std::move(made->value)) : std::nullopt;
}

}  // namespace koord::hook
