// SPDX-License-Identifier: Apache-2.0
// RemoteValues: a child's copy of its metrics and series, to distinguish batches that the host will take from those
// that the host must check before append() returns. [any thread]
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <unordered_map>

#include "koordetector/plugin.h"

namespace koord::child {

class RemoteValues {
 public:
  void add_metric(std::uint32_t metric, std::uint32_t type, double resolution);
  void add_series(std::uint64_t series, std::uint32_t metric);

  // Returns whether each point is of a series of this process and fits its metric.
  bool fit(std::span<const koord_point> points) const;

 private:
  struct Range {
    double least = 0, most = 0;
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint32_t, Range> metrics_;
  std::unordered_map<std::uint64_t, Range> series_;
};

}  // namespace koord::child
