// SPDX-License-Identifier: Apache-2.0
// The only place that cleans texts of a runtime hook: its rejection and the errors of its calls. They go to the
// container runtime, to logs, records and Events. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace koord::host {

inline constexpr std::size_t kMaxHookText = 1024;

// Returns at most kMaxHookText bytes of valid UTF-8 without control characters. A line break or tab becomes a space,
// another control character or an invalid byte '?'.
std::string clean_hook_text(std::string_view text);

}  // namespace koord::host
