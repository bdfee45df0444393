// SPDX-License-Identifier: Apache-2.0
// The matrix of waits between containers: the latest values of the metric kWaitsFor. Each series has a victim as its
// subject and names the culprit in a label. The metric is not on /metrics: there are as many series as pairs. Includes
// Boost.JSON: for api_*.cpp only.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "core/api/api.hpp"
#include "core/api/interference_request.hpp"

namespace koord::api {

inline constexpr std::string_view kWaitsFor = "container_waits_for_ratio";

// One matrix for each plugin and resource, of its last window: its pairs, the longest wait first. A matrix older than
// two periods of its plugin is left out.
boost::json::array matrices_json(const ApiSources& sources, const MatrixRequest& request);

}  // namespace koord::api
