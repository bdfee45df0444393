// SPDX-License-Identifier: Apache-2.0
#include "core/knob/intent.hpp"

#include <tuple>
#include <utility>

#include "core/knob/role.hpp"

namespace koord::knob {

Result<Intent> make_intent(const Knob& knob, decision::Role role, std::string value) {
  TRY(check_role(knob, role));
  Intent intent;
  intent.knob = &knob;
  intent.role = role;
  if (role == decision::Role::scale)
    intent.factor = TRY(parse_factor(knob, value));
  else
    intent.parsed = TRY(parse_value(knob, value));
  intent.value = std::move(value);
  return intent;
}

// Does not compare the parsed value, because it follows from the knob and the text.
bool is_same_proposal(const Intent& a, const Intent& b) {
  const auto key_of = [](const Intent& one) {
    return std::tie(one.knob, one.value, one.cgroup_dir, one.priority, one.level, one.flags, one.role);
  };
  return key_of(a) == key_of(b);
}

bool Intent::operator==(const Intent& other) const {
  return is_same_proposal(*this, other) &&
         std::tie(reason, inputs, ttl) == std::tie(other.reason, other.inputs, other.ttl);
}

}  // namespace koord::knob
