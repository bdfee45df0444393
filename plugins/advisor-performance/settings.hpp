// SPDX-License-Identifier: Apache-2.0
// The plugin's configuration: the members of plugins.settings.advisor-performance.config, and their defaults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "koordetector/plugin.hpp"
#include "plugins/shared/counters/event_set.hpp"

namespace koord::performance {

extern const char kConfigSchema[];

struct Settings {
  EventSettings events = {};
  std::uint64_t interval_ns = 60'000'000'000;  // time from one window of a container to its next window
  double min_running_ratio = 0.05;
  std::size_t max_descriptors = 4096;  // and at most a quarter of the process's limit
};

// Throws Failure with KOORD_E_INVALID.
Settings read_settings(const koord_host* host);

}  // namespace koord::performance
