// SPDX-License-Identifier: Apache-2.0
// Mode of a strategy, as configured and as the governor applies it. [any thread]
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.hpp"

namespace koord {

// off: intents are ignored; shadow: recorded, not written; enforce: written.
enum class Mode : std::uint8_t { off, shadow, enforce };

std::string_view to_string(Mode mode);  // "shadow"
// An error says what was expected.
Result<Mode> parse_mode(std::string_view text);

}  // namespace koord
