// SPDX-License-Identifier: Apache-2.0
// Parses parameters that several routes have. An error contains the parameter, its value and the expected values. Pure.
// [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/url.hpp"

namespace koord::api {

// Fails if a parameter has a name that is not in `known`.
Result<void> check_names(const http::Query& parameters, const std::vector<std::string>& known);

// Parses Unix seconds, or a time before now such as "10m". Returns nanoseconds of the wall clock.
Result<std::int64_t> parse_moment(std::string_view name, std::string_view text, const Clock& clock);

// Parses a number from 1 to `most`.
Result<std::uint64_t> parse_count(std::string_view name, std::string_view text, std::uint64_t most);

}  // namespace koord::api
