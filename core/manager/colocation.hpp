// SPDX-License-Identifier: Apache-2.0
// Colocation: how much of a node's unused resources batch and mid pods may use. The settings come from the document
// `colocation-config` of the ConfigMap slo-controller-config, its entry for the node, and the node's own annotation and
// labels. Fields, defaults and order are Koordinator's. Pure. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::manager {

// The amount that is subtracted from the capacity for all pods except batch and free pods.
enum class Policy : std::uint8_t { usage, request, max_usage_request };

struct ResourceShare {
  std::int64_t reclaim_percent = 0;  // share of the capacity that may be used in total
  Policy policy = Policy::usage;
  std::int64_t mid_percent = 100;             // share of the capacity: limit for mid
  std::optional<std::int64_t> batch_percent;  // share of the capacity: limit for batch; nullopt: no limit
  std::int64_t mid_static_percent = 0;        // fixed share of the capacity for mid; 0: mid gets unused resources

  bool operator==(const ResourceShare&) const = default;
};

struct Colocation {
  bool enable = false;
  ResourceShare cpu{.reclaim_percent = 60, .batch_percent = std::nullopt};
  ResourceShare memory{.reclaim_percent = 65, .batch_percent = std::nullopt};
  std::int64_t mid_unallocated_percent = 0;
  Duration aggregate = std::chrono::minutes(5);  // window of the averages
  Duration report = std::chrono::minutes(1);     // time between two reports
  std::vector<std::string> aggregate_durations = {"5m0s", "10m0s", "30m0s"};
  std::string memory_policy = "usageWithoutPageCache";
  Duration degrade = std::chrono::minutes(15);      // an older report is ignored
  Duration write_period = std::chrono::minutes(5);  // after this time a smaller change is written, too
  double diff_threshold = 0.1;                      // smaller relative changes wait for write_period

  bool operator==(const Colocation&) const = default;
};

// The settings of a node, and problems with them, one line each.
struct NodeColocation {
  Colocation settings;
  std::vector<std::string> problems;
};

// The key of the document in the ConfigMap.
inline constexpr std::string_view kColocationKey = "colocation-config";

class ColocationSettings {
 public:
  // Reads the document. An empty document means that it is missing, so the defaults are used. Returns the reason if it
  // is invalid; in that case the settings do not change.
  std::string take(std::string_view document);

  // Returns the settings of a node. An invalid annotation or label is reported as a problem, and ignored.
  NodeColocation of_node(const state::StringMap& labels, const state::StringMap& annotations) const;

 private:
  struct Document;
  std::shared_ptr<const Document> document_;  // the last valid one; null: missing. Copies share it.
};

// Returns the names of all fields of a strategy.
std::vector<std::string> colocation_fields();

// Returns the spec of a node's NodeMetric as JSON.
std::string node_metric_spec(const Colocation& colocation);

}  // namespace koord::manager
