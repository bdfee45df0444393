// SPDX-License-Identifier: Apache-2.0
// The matrix of waits between containers: the latest values of the metric kWaitsFor. Each series has a victim as its
// subject and names the culprit in a label. The metric is not on /metrics, because it has one series per pair. Includes
// Boost.JSON, so only .cpp files of core/api include it.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "core/api/api.hpp"
#include "core/api/interference_request.hpp"

namespace koord::api {

inline constexpr std::string_view kWaitsFor = "container_waits_for_ratio";

// Returns one matrix for each plugin and resource, from its last window: its pairs, sorted by the longest wait. Omits a
// matrix that is older than two periods of its plugin.
boost::json::array matrices_json(const ApiSources& sources, const MatrixRequest& request);

}  // namespace koord::api
