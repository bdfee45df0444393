// SPDX-License-Identifier: Apache-2.0
// Intents for a ladder's restraints: caps, each with the verdict that is its reason. Pure. [any thread]
#pragma once

#include <set>
#include <string>

#include "plugins/qos-interference/ladder.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::mitigation {

// Returns the intents. Intents for knobs that the kernel lacks are left out.
strategy::Intents intents_of(const std::vector<Restraint>& restraints,
                             const std::set<std::string, std::less<>>& missing_knobs);

// Returns a text like "shop/cart-7d9/app (cpu, 38 ms/s of its waits, 62 %, exact), verdict 12 of advisor-interference".
std::string text_of(const Cause& cause, Resource resource);
// Returns the same as named values: ("verdict", "12"), ("victim", "shop/cart-7d9/app"), …
strategy::Inputs inputs_of(const Cause& cause, Resource resource);

}  // namespace koord::mitigation
