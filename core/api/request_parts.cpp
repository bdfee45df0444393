// SPDX-License-Identifier: Apache-2.0
#include "core/api/request_parts.hpp"

#include <algorithm>

#include "core/base/parse.hpp"

namespace koord::api {

Result<void> check_names(const http::Query& parameters, const std::vector<std::string>& known) {
  for (const auto& [name, value] : parameters.parameters())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return invalid("unknown parameter '" + name + "', known are " + join(known, ", "));
  return {};
}

Result<std::int64_t> parse_moment(std::string_view name, std::string_view text, const Clock& clock) {
  const Result<double> seconds = parse_double(text);
  if (seconds && *seconds >= 0 && *seconds < 9e9) return static_cast<std::int64_t>(*seconds * 1e9);
  if (Result<Duration> ago = parse_duration(text); ago && ago->count() >= 0) return clock.wall_ns() - ago->count();
  return invalid(std::string(name) + " '" + std::string(text) +
                 "' is neither a time in Unix seconds nor how long ago, as 10m");
}

Result<std::uint64_t> parse_count(std::string_view name, std::string_view text, std::uint64_t most) {
  const Result<std::uint64_t> number = parse_uint(text);
  if (number && *number >= 1 && *number <= most) return *number;
  return invalid(std::string(name) + " '" + std::string(text) + "' is not a number from 1 to " + std::to_string(most));
}

}  // namespace koord::api
