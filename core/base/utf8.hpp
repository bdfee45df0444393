// SPDX-License-Identifier: Apache-2.0
// UTF-8 in text from outside. Overlong forms, surrogates and numbers beyond U+10FFFF are invalid (RFC 3629). [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace koord {

bool is_valid_utf8(std::string_view text);

// Returns the number of bytes of the first character; 0 if it is invalid. `text` is not empty.
std::size_t utf8_length(std::string_view text);

// Returns the number of characters of valid text.
std::size_t utf8_count(std::string_view text);

// Leaves at most `max_bytes` of it, and no half character at the end.
void cut_utf8(std::string& text, std::size_t max_bytes);

// Leaves at most `max_characters` of valid text.
void cut_utf8_characters(std::string& text, std::size_t max_characters);

// If the text is invalid, replaces each of its non-ASCII bytes with '?'.
void replace_invalid_utf8(std::string& text);

}  // namespace koord
