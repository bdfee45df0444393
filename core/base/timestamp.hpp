// SPDX-License-Identifier: Apache-2.0
// Points in time as text, in UTC. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord {

// RFC 3339, as Kubernetes writes it: "2026-01-02T03:04:05Z".
std::string format_timestamp(std::int64_t unix_seconds);
// With milliseconds, for log lines: "2026-01-02T03:04:05.678Z".
std::string format_timestamp_ms(std::int64_t unix_ms);
// For file names; texts sort as their times: "20260102T030405Z".
std::string format_timestamp_for_file(std::int64_t unix_seconds);
// For tables: "2026-01-02 03:04:05".
std::string format_timestamp_for_table(std::int64_t unix_seconds);

// RFC 3339 with any zone and fraction, in ns since the Unix epoch; years 1678 to 2261.
Result<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace koord
