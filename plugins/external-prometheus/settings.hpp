// SPDX-License-Identifier: Apache-2.0
// The configuration of external-prometheus as values.
#pragma once

#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/external-prometheus/external_prometheus.hpp"

namespace koord::external_prometheus {

struct Target {
  plugin::ScrapeTarget where;
  Naming naming;
  Labelling labelling;
};

// Returns the targets in the order of the configuration.
std::vector<Target> read_targets(const plugin::Config& config);

}  // namespace koord::external_prometheus
