// SPDX-License-Identifier: Apache-2.0
// Label selectors of Kubernetes, as JSON values. Pure. [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "core/state/pod.hpp"

namespace koord::state {

// A label selector of Kubernetes: `matchLabels` and `matchExpressions`. One that is missing matches nothing, an empty
// one everything, and so does one that cannot be understood match nothing.
bool selects(const boost::json::value* selector, const StringMap& labels);

// Why a selector cannot be understood; empty: it can, or is missing.
std::string selector_problem(const boost::json::value* selector);

}  // namespace koord::state
