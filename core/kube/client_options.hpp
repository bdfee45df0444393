// SPDX-License-Identifier: Apache-2.0
// The options of a client of the API server, as the configuration has them.
#pragma once

#include <cstdint>

#include "core/config/config.hpp"
#include "core/kube/client.hpp"

namespace koord::kube {

inline ClientOptions client_options(const config::ClusterSettings& settings) {
  ClientOptions options;
  options.requests_per_second = static_cast<double>(settings.requests_per_second);
  options.burst = static_cast<std::uint32_t>(settings.burst);
  return options;
}

}  // namespace koord::kube
