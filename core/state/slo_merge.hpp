// SPDX-License-Identifier: Apache-2.0
// The merge behind slo.hpp, with JSON values; for the slo_* files of this folder only. Pure. [any thread]
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/slo.hpp"
#include "core/state/slo_schema.hpp"

namespace koord::state {

// The value that this field gets; nullopt: the field cannot have it. Not for objects and lists.
std::optional<boost::json::value> taken_value(const SloField& field, const boost::json::value& value);

// The member of this name whatever its case, the last that is not null; null: none.
const boost::json::value* find_member(const boost::json::value& object, std::string_view name);

// JSON on one line, of at most 64 characters.
std::string shown(const boost::json::value& value);

// The default of a field; nullopt: none.
std::optional<boost::json::value> default_of(const SloField& field, SloProfile profile);

// A whole spec, `received` over the defaults. Not an object: no section came.
boost::json::object merge_slo(const boost::json::value& received, std::vector<SloProblem>& problems);

}  // namespace koord::state
