// SPDX-License-Identifier: Apache-2.0
// Text to values, for kernel files and configuration: the whole text must be the value. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord {

std::string_view trim(std::string_view text);

// Without spaces around; an error quotes the text.
Result<std::int64_t> parse_int(std::string_view text);
Result<std::uint64_t> parse_uint(std::string_view text);
Result<double> parse_double(std::string_view text);

// "90s", "1h30m", "250ms", as Go writes durations; units ns us ms s m h.
Result<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration d);

// Takes the text up to the next `separator` off the front of `rest`; nullopt when nothing is left.
std::optional<std::string_view> next_field(std::string_view& rest, char separator);
// Takes the next word off the front of `rest`; words stand between spaces and tabs.
std::optional<std::string_view> next_word(std::string_view& rest);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The value behind `key` in lines "key value", as memory.stat and cpu.stat have them.
std::optional<std::uint64_t> find_flat_key(std::string_view text, std::string_view key);

// The candidate that is the fewest edits away from `word`; empty when no candidate is near. For "did you mean".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace koord
