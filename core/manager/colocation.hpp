// SPDX-License-Identifier: Apache-2.0
// Colocation: how much of a node's unused resources batch and mid pods may get: the document `colocation-config` of the
// ConfigMap slo-controller-config, its entry for a node, and the node's own annotation and labels. Fields, defaults and
// order are Koordinator's. Pure. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::manager {

// The base that is subtracted from the capacity for pods that are not batch or free.
enum class Policy : std::uint8_t { usage, request, max_usage_request };

struct ResourceShare {
  std::int64_t reclaim_percent = 0;  // of the capacity that may be used in all
  Policy policy = Policy::usage;
  std::int64_t mid_percent = 100;             // of the capacity, at most for mid
  std::optional<std::int64_t> batch_percent;  // of the capacity, at most for batch; nullopt: no such limit
  std::int64_t mid_static_percent = 0;        // of the capacity, for mid, whatever is unused; 0: by what is unused

  bool operator==(const ResourceShare&) const = default;
};

struct Colocation {
  bool enable = false;
  ResourceShare cpu{.reclaim_percent = 60, .batch_percent = std::nullopt};
  ResourceShare memory{.reclaim_percent = 65, .batch_percent = std::nullopt};
  std::int64_t mid_unallocated_percent = 0;
  Duration aggregate = std::chrono::minutes(5);  // window of the averages
  Duration report = std::chrono::minutes(1);     // between two reports
  std::vector<std::string> aggregate_durations = {"5m0s", "10m0s", "30m0s"};
  std::string memory_policy = "usageWithoutPageCache";
  Duration degrade = std::chrono::minutes(15);      // a report that is older than that does not count at all
  Duration write_period = std::chrono::minutes(5);  // after which a smaller change is written, too
  double diff_threshold = 0.1;                      // smaller relative changes wait for that

  bool operator==(const Colocation&) const = default;
};

// The node's part of the settings, and problems with it, a line each.
struct NodeColocation {
  Colocation settings;
  std::vector<std::string> problems;
};

class ColocationSettings {
 public:
  // The document; empty: it is missing, and the defaults hold. Invalid: returns the reason, and everything stays as it
  // was.
  std::string take(std::string_view document);

  // An annotation or label that is invalid is a problem, and counts as missing.
  NodeColocation of_node(const state::StringMap& labels, const state::StringMap& annotations) const;

 private:
  std::string document_;  // the last good one
};

// The spec of a node's NodeMetric, JSON.
std::string node_metric_spec(const Colocation& colocation);

}  // namespace koord::manager
