// SPDX-License-Identifier: Apache-2.0
// The program's own metrics as Prometheus text.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.hpp"
#include "core/manager/controllers.hpp"
#include "core/manager/metric_server.hpp"

namespace koord::manager {

struct LeaderStatus {
  bool leads = false;
  std::int64_t transitions = 0;
};

std::string metrics_text(const LeaderStatus& leader, const Controllers::Status& status, const kube::Client::Use& use,
                         Time now);
// The same for the aggregated API.
std::string serve_metrics_text(const MetricServer::Status& status);

}  // namespace koord::manager
