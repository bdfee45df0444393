// SPDX-License-Identifier: Apache-2.0
// Role: the part that an intent has in a knob's value, and which knobs take which roles. Pure functions. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

std::string_view name_of(decision::Role role);  // "scale"

// Returns whether an intent may have this role for this knob. Each knob takes `set` and, unless it is a one-shot,
// `base`; a knob that is one amount takes `scale`; a knob with ordered values takes `cap` and `floor`; a CPU set takes
// `cap`, the intersection.
bool takes_role(const Knob& knob, decision::Role role);
// An error names the knob, the role and the roles that the knob takes.
Result<void> check_role(const Knob& knob, decision::Role role);

inline constexpr double kLargestFactor = 1000;
// The value of a scale: a decimal number above 0.
Result<double> parse_factor(const Knob& knob, std::string_view text);

}  // namespace koord::knob
