// SPDX-License-Identifier: Apache-2.0
// Applies patches to a JSON value: merge patch (RFC 7386) and JSON patch (RFC 6902 with the pointers of RFC 6901). A
// patch cannot enlarge a value without limit by repeated copies, nor nest it deeper than the parser allows. [any
// thread]
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::aggregated {

inline constexpr std::size_t kMaxPatchOperations = 1000;
inline constexpr std::size_t kMaxPatchedBytes = 4u << 20;  // approximate limit for all copied values together

void apply_merge_patch(boost::json::value& target, const boost::json::value& patch);

// Applies the patch. After an error the target is undefined.
Result<void> apply_json_patch(boost::json::value& target, const boost::json::value& patch);

}  // namespace koord::aggregated
