// SPDX-License-Identifier: Apache-2.0
// The program's own metrics as Prometheus text.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.hpp"
#include "core/manager/controllers.hpp"

namespace koord::manager {

struct LeaderStatus {
  bool leads = false;
  std::int64_t transitions = 0;
};

std::string metrics_text(const LeaderStatus& leader, const Controllers::Status& status, const kube::Client::Use& use,
                         Time now);

}  // namespace koord::manager
