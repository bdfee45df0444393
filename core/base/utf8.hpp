// SPDX-License-Identifier: Apache-2.0
// UTF-8 in text from outside. Overlong forms, surrogates and numbers beyond U+10FFFF are invalid (RFC 3629). [any
// thread]
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

// Returns the number of bytes of the control character at the front: C0 and DEL have one, C1 (U+0080 to U+009F) has
// two. 0: another character. `text` is not empty.
std::size_t control_length(std::string_view text);

// Replaces each control character with '?', but not those of `kept`; invalid text as replace_invalid_utf8() does. A
// terminal obeys control characters, those of C1 as well.
void replace_control_characters(std::string& text, std::string_view kept = {});

}  // namespace koord
