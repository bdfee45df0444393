// SPDX-License-Identifier: Apache-2.0
// Makes an intent for a test. Throws if the value or the role is invalid for the knob.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/knob/intent.hpp"

namespace koord::test {

inline knob::Intent made_intent(std::string_view knob, std::string value, decision::Role role = decision::Role::set) {
  return knob::make_intent(*knob::knob_named(knob).value(), role, std::move(value)).value();
}

}  // namespace koord::test
