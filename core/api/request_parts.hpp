// SPDX-License-Identifier: Apache-2.0
// Parts of the parameters of several routes. An error names the parameter, what it was and what is expected. Pure. [any
// thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/url.hpp"

namespace koord::api {

// Fails if there is a parameter with another name.
Result<void> check_names(const http::Query& parameters, const std::vector<std::string>& known);

// Unix seconds, or, as "10m", how long ago; in nanoseconds of the wall clock.
Result<std::int64_t> parse_moment(std::string_view name, std::string_view text, const Clock& clock);

// A number from 1 to `most`.
Result<std::uint64_t> parse_count(std::string_view name, std::string_view text, std::uint64_t most);

}  // namespace koord::api
