// SPDX-License-Identifier: Apache-2.0
// The running program: connects the parts, serves until SIGTERM or SIGINT.
#pragma once

#include "core/config/manager_config.hpp"
#include "core/manager/controllers.hpp"

namespace koord::manager {

// Returns the exit status: 0 stopped on request, 1 could not run.
int run(const config::ManagerConfig& config, const config::FeatureGates& gates);

}  // namespace koord::manager
