// SPDX-License-Identifier: Apache-2.0
// Applies patches to a JSON value: merge patch (RFC 7386) and JSON patch (RFC 6902 with the pointers of RFC 6901). A
// patch cannot enlarge a value without limit by repeated copies, nor nest it deeper than the parser allows, nor take
// more time than its limits allow. [any thread]
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::aggregated {

inline constexpr std::size_t kMaxPatchOperations = 10'000;  // the same as a kube-apiserver's
// Approximate limits for all operations of a patch together. Moved: values that are moved or copied, and entries of
// lists behind one that is inserted or removed.
inline constexpr std::size_t kMaxCopiedMebibytes = 4;
inline constexpr std::size_t kMaxMovedMebibytes = 64;

void apply_merge_patch(boost::json::value& target, const boost::json::value& patch);

// Applies the patch. Fails with errc::value_too_large beyond a limit. After an error the target is undefined.
Result<void> apply_json_patch(boost::json::value& target, const boost::json::value& patch);

}  // namespace koord::aggregated
