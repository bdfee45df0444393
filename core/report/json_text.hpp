// SPDX-License-Identifier: Apache-2.0
// Text of the objects of this folder: quantities, times and durations as the API server writes them back. For the .cpp
// files of this folder only. [any thread]
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/json/members.hpp"
#include "core/report/usage.hpp"

namespace koord::report {

// As Go: "5m0s", "1h0m0s", "30s".
std::string format_go_duration(Duration duration);

// A ResourceMap: {"resources": {"cpu": …, "memory": …}, "devices": […]}, or {}.
boost::json::object resource_map(const Usage& usage);

// The owner reference of objects that end with the Node.
boost::json::object owner_reference(const std::string& node, const std::string& uid);

// Reads JSON text with an object as its root; an error begins with `what`.
Result<boost::json::object> parse_root(std::string_view text, const char* what);
// Returns the member as an object, and makes it one if it is missing or none.
boost::json::object& object_in(boost::json::object& object, std::string_view name);

// Whether two JSON texts say the same, whatever the order of their members.
bool same_json(std::string_view a, std::string_view b);

inline boost::json::string_view json_view(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace koord::report
