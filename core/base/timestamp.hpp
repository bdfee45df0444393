// SPDX-License-Identifier: Apache-2.0
// Points in time as text, in UTC. [any thread]
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.hpp"

namespace koord {

// RFC 3339 with any zone and fraction, in ns since the Unix epoch; years 1678 to 2261.
Result<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace koord
