// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_inactive.hpp"

#include <algorithm>

#include "core/base/parse.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

std::string_view class_of(SloProfile profile) {
  switch (profile) {
    case SloProfile::lsr:
      return "lsrClass";
    case SloProfile::ls:
      return "lsClass";
    case SloProfile::be:
      return "beClass";
    case SloProfile::system:
      return "systemClass";
    case SloProfile::root:
      return "cgroupRoot";
    case SloProfile::general:
      break;
  }
  return "";
}

}  // namespace

std::vector<std::string> strategies_of(const SloField& field, SloProfile profile) {
  std::vector<std::string> names;
  std::string_view rest = field.strategies;
  const std::string_view of_class = class_of(profile);
  while (auto name = next_field(rest, '|'))
    if (!name->empty()) names.push_back(std::string(*name) + (of_class.empty() ? "" : "/" + std::string(of_class)));
  return names;
}

InactiveStrategies::InactiveStrategies(const json::value& spec) {
  const json::object* members = spec.if_object();
  const json::value* named = members ? members->if_contains(kInactiveMember) : nullptr;
  if (!named || !named->is_object()) return;
  for (const auto& [name, reason] : named->get_object())
    if (reason.is_string()) reasons_.emplace(std::string(name), std::string(reason.get_string()));
}

void InactiveStrategies::add(const std::vector<std::string>& strategies, SloProblem& problem) {
  for (const std::string& name : strategies) reasons_.try_emplace(name, text_of(problem));
  problem.inactive = join(strategies, ", ");
}

bool InactiveStrategies::cover(const SloField& field, SloProfile profile) const {
  if (reasons_.empty()) return false;
  const std::vector<std::string> names = strategies_of(field, profile);
  return !names.empty() &&
         std::all_of(names.begin(), names.end(), [this](const std::string& name) { return reasons_.contains(name); });
}

std::string InactiveStrategies::reasons(const SloField& field, SloProfile profile) const {
  std::string text;
  for (const std::string& name : strategies_of(field, profile))
    if (const auto found = reasons_.find(name); found != reasons_.end())
      text += (text.empty() ? "" : "; ") + name + " is inactive: " + found->second;
  return text;
}

std::string InactiveStrategies::reasons_of(std::string_view strategy) const {
  std::string text;
  for (const auto& [name, reason] : reasons_) {
    const bool is_class_of =
        name.size() > strategy.size() && name.starts_with(strategy) && name[strategy.size()] == '/';
    if (name == strategy || is_class_of) text += (text.empty() ? "" : "; ") + name + " is inactive: " + reason;
  }
  return text;
}

void InactiveStrategies::write(json::object& spec) const {
  if (reasons_.empty()) return;
  json::value& member = spec[kInactiveMember];
  if (!member.is_object()) member = json::object();
  for (const auto& [name, reason] : reasons_) member.get_object()[name] = reason;
}

}  // namespace koord::state
