// SPDX-License-Identifier: Apache-2.0
// Converts verdicts to JSON. Includes Boost.JSON, so only .cpp files of core/api include it.
#pragma once

#include <boost/json.hpp>

#include "core/base/clock.hpp"
#include "core/metric/labels.hpp"
#include "core/verdict/record.hpp"

namespace koord::api {

// Omits values that the plugin does not know.
boost::json::object json_of(const verdict::Record& record, const Clock& clock);

// Returns {"name": "shop/cart/app", "pod": {uid, namespace, name}, "container": "app"}; without "pod" outside of pods.
boost::json::object json_of_subject(const metric::Labels& labels, std::string_view name);

}  // namespace koord::api
