// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include "core/log/log.hpp"

namespace koord::log {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kLevels{"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> kFormats{"text", "json"};

template <class Enum, std::size_t n>
Result<Enum> find_name(const std::array<std::string_view, n>& names, std::string_view name, const char* expected) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return invalid("'" + std::string(name.substr(0, 64)) + "' is not " + expected);
}

}  // namespace

Result<Level> parse_level(std::string_view name) {
  return find_name<Level>(kLevels, name, "a log level (trace, debug, info, warn, error)");
}

Result<Format> parse_format(std::string_view name) {
  return find_name<Format>(kFormats, name, "a log format (text, json)");
}

std::string_view to_string(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

std::string_view to_string(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

}  // namespace koord::log
