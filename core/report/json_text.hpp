// SPDX-License-Identifier: Apache-2.0
// Text for the objects of this folder: quantities, times and durations in the API server's canonical form. Only for the
// .cpp files of this folder. [any thread]
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

// Formats a duration like Go: "5m0s", "1h0m0s", "30s".
std::string format_go_duration(Duration duration);

// Returns a ResourceMap: {"resources": {"cpu": …, "memory": …}, "devices": […]}, or {}.
boost::json::object resource_map(const Usage& usage);

// Returns the owner reference of objects that are deleted with the Node.
boost::json::object owner_reference(const std::string& node, const std::string& uid);

// Reads JSON text with an object as its root; an error begins with `what`.
Result<boost::json::object> parse_root(std::string_view text, const char* what);
// Returns the member as an object. Creates it if it is missing or not an object.
boost::json::object& object_in(boost::json::object& object, std::string_view name);

// Returns whether two JSON texts are equal, in any order of members.
bool same_json(std::string_view a, std::string_view b);

inline boost::json::string_view json_view(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace koord::report
