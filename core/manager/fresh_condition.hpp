// SPDX-License-Identifier: Apache-2.0
// The condition Fresh in the status of a report. Only the server sets it, so a Fresh condition from a client is
// removed. No I/O. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::manager {

// Returns the status with the condition Fresh. The condition's time changes only with its value. Other conditions do
// not change. `silent_seconds`: since the last report; nullopt: the report is current. `now_seconds`: wall clock.
Result<std::string> with_fresh_condition(std::string_view status, std::optional<std::int64_t> silent_seconds,
                                         std::int64_t now_seconds);

// Returns the status that a client sent, with Fresh=True. `sent` is JSON that the server has checked and written.
// `before`: the status that it replaces, or "". If that status had Fresh=True, the condition keeps its time. An empty
// status is returned unchanged.
std::string with_report_fresh(std::string sent, std::string_view before, std::int64_t now_seconds);

// Returns a status made by with_report_fresh() with Fresh=False, for a node without a report for some time. Returns ""
// if `status` is not an object.
std::string with_report_missing(std::string_view status, std::int64_t silent_seconds, std::int64_t now_seconds);

// Returns whether with_report_missing() made this status.
bool lacks_report(std::string_view status);

}  // namespace koord::manager
