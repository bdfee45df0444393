// SPDX-License-Identifier: Apache-2.0
#include "core/knob/role.hpp"

#include <array>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::knob {
namespace {

constexpr std::array kRoles{decision::Role::set, decision::Role::base, decision::Role::scale, decision::Role::cap,
                            decision::Role::floor};

bool is_one_amount(const Knob& knob) {
  return knob.form == Form::bandwidth || knob.form == Form::amount || knob.name == "cpu.max.burst";
}

// Returns whether the knob has ordered values. Weights have an order, and so has each field of io.max. A switch has no
// values in between, and net_cls.classid is the name of a class.
bool is_ordered(const Knob& knob) {
  const bool is_switch = knob.form == Form::number && knob.most - knob.least <= 1;
  const bool is_name = knob.name == "net_cls.classid";
  return is_one_amount(knob) || knob.form == Form::shares || knob.form == Form::cpu_weight ||
         knob.form == Form::weight || knob.name == "io.max" || (knob.form == Form::number && !is_switch && !is_name);
}

}  // namespace

std::string_view name_of(decision::Role role) {
  switch (role) {
    case decision::Role::set:
      return "set";
    case decision::Role::base:
      return "base";
    case decision::Role::scale:
      return "scale";
    case decision::Role::cap:
      return "cap";
    case decision::Role::floor:
      break;
  }
  return "floor";
}

bool takes_role(const Knob& knob, decision::Role role) {
  if (role == decision::Role::set) return true;
  if (knob.is_one_shot) return false;
  switch (role) {
    case decision::Role::scale:
      return is_one_amount(knob);
    case decision::Role::cap:
      return is_ordered(knob) || knob.resource == "cpuset.cpus";
    case decision::Role::floor:
      return is_ordered(knob);
    default:
      return true;
  }
}

Result<void> check_role(const Knob& knob, decision::Role role) {
  if (takes_role(knob, role)) return {};
  std::vector<std::string> roles;
  for (const decision::Role one : kRoles)
    if (takes_role(knob, one)) roles.emplace_back(name_of(one));
  return invalid("'" + std::string(knob.name) + "' takes no " + std::string(name_of(role)) +
                 ", expected one of: " + join(roles, ", "));
}

Result<double> parse_factor(const Knob& knob, std::string_view text) {
  const Result<double> factor = parse_double(text);
  if (factor && *factor > 0 && *factor <= kLargestFactor) return *factor;
  return invalid("the scale of " + std::string(knob.name) + " is '" + std::string(text) +
                 "', expected a decimal factor above 0 and at most 1000, such as 1.5");
}

}  // namespace koord::knob
