// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, section 4). [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace koord {

// Skips line breaks and spaces. nullopt: another character, or a wrong length or padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace koord
