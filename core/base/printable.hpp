// SPDX-License-Identifier: Apache-2.0
// Text from outside, such as a value of an annotation, in the form that errors, logs and terminals show. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace koord {

inline constexpr std::size_t kMaxPrintableBytes = 256;

// Returns a control character as text: \n, \x1b, \u009b. `control`: its bytes, see control_length().
std::string escaped_control(std::string_view control);

// Escapes control characters as escaped_control() does, replaces invalid UTF-8 as replace_invalid_utf8() does, and cuts
// the text at `max_bytes`, which is followed by "…".
std::string printable(std::string_view text, std::size_t max_bytes = kMaxPrintableBytes);

}  // namespace koord
