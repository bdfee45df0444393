// SPDX-License-Identifier: Apache-2.0
// Values that are several in one: lines of named fields for a device, schemata of caches. Which fields a knob's line
// has, which values they take, and both ways between text and fields. Pure functions. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/knob/knob.hpp"

namespace koord::knob {

// A proposed value that is none of the knob's.
Error unexpected(const Knob& knob, std::string_view text, const std::string& expected);

// Is it a device as the kernel names one: "8:16"?
bool is_device(std::string_view text);

// Those behind the device, "8:16 rbps=1048576 wbps=max", as proposed: fields that are not named are added when the knob
// has a value that is none of them.
Result<Fields> parse_fields(const Knob& knob, std::string_view text);
// The fields that the kernel shows, without the device: unknown ones are taken as they are.
Fields read_fields(std::string_view text);
// In the order of the kernel.
std::string spell_fields(const Knob& knob, const Fields& fields);

// "0=ff;1=f0", as proposed or as the kernel says it.
Result<Fields> parse_domains(const Knob& knob, std::string_view text);
std::string spell_domains(const Fields& domains);

// Are two texts of one field the same value: "95" and "95.00", "max" and "max", of masks "0f" and "f"?
bool same_field(const Knob& knob, std::string_view a, std::string_view b);

// How much all fields allow together: larger is wider.
long double width_of_fields(const Knob& knob, const Fields& fields);

// The names of io.max's fields, in the order of its files on v1.
std::string_view throttle_field(std::size_t file);

}  // namespace koord::knob
