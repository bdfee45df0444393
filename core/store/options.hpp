// SPDX-License-Identifier: Apache-2.0
// Options of the metric cache. Filled from the configuration's `store` section.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::store {

struct Options {
  std::string path;  // of the SQLite file; empty: memory only
  Duration retention = std::chrono::hours(12);
  std::uint64_t max_bytes = 64u << 20;
  // Never cut by size. When this much does not fit into max_bytes, the file grows and Stats::over_budget is set.
  Duration min_span = std::chrono::minutes(30);
  Duration journal_period = std::chrono::seconds(1);  // at most so much is lost when the process is killed
  bool journal = true;                                // false: up to 4 minutes are lost when the process is killed
  // Rows in memory per metric, 4 or 8 bytes per changing series each: this many at most, fewer where they already reach
  // back five minutes.
  std::uint32_t ring_rows = 320;
};

// An error names the option, its value and what is allowed.
Result<void> check(const Options& options);

}  // namespace koord::store
