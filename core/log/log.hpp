// SPDX-License-Identifier: Apache-2.0
// The agent's log: one line each on stderr, as text or JSON, a category per line. A thin face over spdlog,
// which stays in log.cpp. The host and the programs log; libraries return errors and log at most at debug.
// All functions may be called from any thread, from the first line of main to the last.
//
//   constexpr log::Category host_log{"host"};
//   log::warn(host_log, "cannot read '{}', keeping the last value", path);
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"

namespace koord::log {

enum class Level : std::uint8_t { trace, debug, info, warn, error };

// text: `2026-01-02T03:04:05.678Z WARN  host: text`; json: an object with time, level, category and message.
enum class Format : std::uint8_t { text, json };

// Source of a log line. The name must be valid forever: a string literal.
struct Category {
  std::string_view name;
};

// Until it is called: info, text.
void set_up(Level level, Format format);

bool enabled(Level level);

// The text may hold anything: line breaks and control characters are escaped, so that an entry stays one
// line.
void write(Category category, Level level, std::string_view text);

Result<Level> parse_level(std::string_view name);
Result<Format> parse_format(std::string_view name);
std::string_view to_string(Level level);
std::string_view to_string(Format format);

namespace detail {
void write_formatted(Category category, Level level, fmt::string_view format, fmt::format_args arguments);

template <class... A>
void format_if_enabled(Category category, Level level, fmt::format_string<A...> format, A&&... arguments) {
  if (enabled(level)) write_formatted(category, level, format, fmt::make_format_args(arguments...));
}
}  // namespace detail

template <class... A>
void debug(Category category, fmt::format_string<A...> format, A&&... arguments) {
  detail::format_if_enabled<A...>(category, Level::debug, format, std::forward<A>(arguments)...);
}

template <class... A>
void info(Category category, fmt::format_string<A...> format, A&&... arguments) {
  detail::format_if_enabled<A...>(category, Level::info, format, std::forward<A>(arguments)...);
}

template <class... A>
void warn(Category category, fmt::format_string<A...> format, A&&... arguments) {
  detail::format_if_enabled<A...>(category, Level::warn, format, std::forward<A>(arguments)...);
}

template <class... A>
void error(Category category, fmt::format_string<A...> format, A&&... arguments) {
  detail::format_if_enabled<A...>(category, Level::error, format, std::forward<A>(arguments)...);
}

}  // namespace koord::log
