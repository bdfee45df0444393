// SPDX-License-Identifier: Apache-2.0
// Verdicts as JSON. Includes Boost.JSON: for api_*.cpp only.
#pragma once

#include <boost/json.hpp>

#include "core/base/clock.hpp"
#include "core/metric/labels.hpp"
#include "core/verdict/record.hpp"

namespace koord::api {

// Figures that the plugin does not know are left out.
boost::json::object json_of(const verdict::Record& record, const Clock& clock);

// {"name": "shop/cart/app", "pod": {uid, namespace, name}, "container": "app"}; without "pod" outside of pods.
boost::json::object json_of_subject(const metric::Labels& labels, std::string_view name);

}  // namespace koord::api
