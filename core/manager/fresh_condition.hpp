// SPDX-License-Identifier: Apache-2.0
// The condition Fresh in the status of a report. Only the server sets it: a client's own one is dropped. No I/O.
// [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::manager {

// The status with the condition Fresh. Its time stays as long as its value does; other conditions stay.
// `silent_seconds`: since the last report; nullopt: the report is current. `now_seconds`: wall clock.
Result<std::string> with_fresh_condition(std::string_view status, std::optional<std::int64_t> silent_seconds,
                                         std::int64_t now_seconds);

// The status that a client sent, as JSON that the server has checked and written, with Fresh=True. `before`: the status
// that it replaces, or empty; the condition's time is that of there if it was true there. An empty status stays empty.
std::string with_report_fresh(std::string sent, std::string_view before, std::int64_t now_seconds);

// A status that the function above made, without a report for some time: Fresh=False. Empty: it is no object.
std::string with_report_missing(std::string_view status, std::int64_t silent_seconds, std::int64_t now_seconds);

// Whether the function above made this status.
bool lacks_report(std::string_view status);

}  // namespace koord::manager
