// SPDX-License-Identifier: Apache-2.0
// The values that several hooks' answers give at a creation, by the rule of knob/composition.hpp: a container that a
// runtime makes has the values that the kept answers of the same hooks would give it. Pure. [any thread]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/host/hook_dispatcher.hpp"
#include "core/knob/composition.hpp"

namespace koord::hook {

// Returns the setting of this field; nullptr: no hook sets it.
const host::HookVerdict::Setting* find_setting(const host::HookVerdict& verdict, std::string_view field);

// Where hooks set one field to different values: keeps the strictest one of a field that is a knob, else that of the
// first plugin by its id. A quota keeps the period of its own hook. The values that are not kept are conflicts.
void choose_settings(host::HookVerdict& verdict);

// Returns the parts of a knob's value that the asked hooks do not give.
using OtherPartsOf = std::function<knob::OtherParts(const knob::Knob& knob)>;

// Composes the value of a field that is a knob. `requested`: the runtime's value in the form of an intent; nullopt: it
// has none. Returns nullopt if no hook changes the field, or if a factor has nothing to multiply.
std::optional<knob::Value> compose_field(const host::HookVerdict& verdict, std::string_view field,
                                         const std::optional<std::string>& requested, const OtherPartsOf& others);

}  // namespace koord::hook
