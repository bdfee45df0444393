// SPDX-License-Identifier: Apache-2.0
// Is text from outside what it should be? [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace koord {

// Overlong forms, surrogates and numbers beyond U+10FFFF are none.
bool is_valid_utf8(std::string_view text);

// Leaves at most `max_bytes` of it, and no half character at the end.
void cut_utf8(std::string& text, std::size_t max_bytes);

}  // namespace koord
