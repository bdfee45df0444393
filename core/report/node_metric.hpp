// SPDX-License-Identifier: Apache-2.0
// NodeMetric: the status of this node's NodeMetric (slo.koordinator.sh/v1alpha1), from the metric cache, the snapshot
// and the prediction. Unknown values are omitted and named in `problems`. Values in, a value out. [any thread] Fields
// and rules are koordlet's; README.md lists the differences and their reasons.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/report/pod_details.hpp"
#include "core/report/usage.hpp"
#include "core/state/node_metric_spec.hpp"
#include "core/state/snapshot.hpp"
#include "core/store/store.hpp"

namespace koord::report {

// The usage of one window: avg, p50, p90, p95, p99. All five are empty while the samples cover less than half of the
// window.
struct AggregatedUsage {
  Duration window;
  std::array<Usage, 5> usages;

  bool operator==(const AggregatedUsage&) const = default;
};

struct NumaUsage {
  std::int32_t id = 0;
  Usage node, system;

  bool operator==(const NumaUsage&) const = default;
};

struct PodUsage {
  std::string name_space, name, priority, qos;
  Usage usage;

  bool operator==(const PodUsage&) const = default;
};

struct ApplicationUsage {
  std::string name, priority, qos;
  Usage usage;

  bool operator==(const ApplicationUsage&) const = default;
};

struct NodeMetricStatus {
  std::int64_t update_seconds = 0;  // wall clock, since the Unix epoch
  Usage node, system;
  std::vector<AggregatedUsage> node_windows, system_windows;  // sorted like the spec
  std::vector<NumaUsage> numa;                                // sorted by id
  std::vector<PodUsage> pods;                                 // sorted by namespace and name
  std::vector<ApplicationUsage> applications;                 // sorted by name
  std::optional<Amounts> prod_reclaimable, prod_peak;

  bool operator==(const NodeMetricStatus&) const = default;
};

struct Prediction {
  std::optional<Amounts> reclaimable, peak;  // nullopt: unknown
};

// Limits for the age of the last confirmation of the pods. Older information is reported partly or not at all.
struct PodTolerance {
  Duration old = std::chrono::minutes(2);       // values that need the whole list are omitted
  Duration too_old = std::chrono::minutes(10);  // nothing is reported
};

struct NodeMetricInputs {
  const store::Store& cache;
  const state::Snapshot& state;
  const state::NodeMetricSpec& spec;
  Prediction prediction = {};
  std::map<std::string, bool, std::less<>> device_health = {};  // key: uuid
  std::optional<Time> pods_confirmed = std::nullopt;
  PodTolerance tolerance = {};
  std::optional<Duration> max_age = std::nullopt;  // age of a series' newest sample; nullopt: half of the window
  Time now;
  std::int64_t wall_ns = 0;
};

struct NodeMetricReport {
  NodeMetricStatus status;
  std::vector<std::string> problems;  // omitted values and differences from the spec, one sentence each
  std::string refusal;                // why nothing may be reported; empty: `status` may be reported
};

NodeMetricReport make_node_metric(const NodeMetricInputs& inputs);

// Returns the status as JSON text for the API server. Quantities are in canonical form.
std::string to_json(const NodeMetricStatus& status);
// The same for metrics.koordetector.sh, with the details of the pods in the status. `period`: until the next report;
// zero: not stated.
std::string to_json(const NodeMetricStatus& status, const DetailsOfPods& details, Duration period = {});

}  // namespace koord::report
