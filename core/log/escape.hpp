// SPDX-License-Identifier: Apache-2.0
// Makes any bytes fit for one line of the log. [any thread]
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace koord::log {

using Buffer = fmt::basic_memory_buffer<char, 250>;  // the type that spdlog hands to a formatter

// Appends the text for one line of the log: control characters as \n, \t, \x1b, \u009b, …; the rest unchanged.
void append_printable(Buffer& out, std::string_view text);

// As a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
void append_json_string(Buffer& out, std::string_view text);

}  // namespace koord::log
