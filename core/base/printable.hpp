// SPDX-License-Identifier: Apache-2.0
// Text from outside, such as a value of an annotation, in the form that errors, logs and terminals show. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace koord {

inline constexpr std::size_t kMaxPrintableBytes = 256;

// Escapes control characters ("\n", "\x1b", "\u009b"), replaces invalid UTF-8 as replace_invalid_utf8() does, and cuts
// the text at `max_bytes`, which is followed by "…".
std::string printable(std::string_view text, std::size_t max_bytes = kMaxPrintableBytes);

}  // namespace koord
