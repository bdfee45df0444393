// SPDX-License-Identifier: Apache-2.0
// NodeMetric: the status of this node's NodeMetric (slo.koordinator.sh/v1alpha1), from the metric cache, the snapshot
// and the prediction. Unknown values are left out and named in `problems`. Values in, a value out. [any thread] Fields
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

// For one window: avg, p50, p90, p95, p99. While the samples span less than half of it all five are empty.
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
  std::vector<AggregatedUsage> node_windows, system_windows;  // in the order of the spec
  std::vector<NumaUsage> numa;                                // by id
  std::vector<PodUsage> pods;                                 // by namespace, name
  std::vector<ApplicationUsage> applications;                 // by name
  std::optional<Amounts> prod_reclaimable, prod_peak;

  bool operator==(const NodeMetricStatus&) const = default;
};

struct Prediction {
  std::optional<Amounts> reclaimable, peak;  // nothing: not known
};

// The age of the last confirmation of the pods limits the report about them.
struct PodTolerance {
  Duration old = std::chrono::minutes(2);       // values computed from the whole list are left out
  Duration too_old = std::chrono::minutes(10);  // nothing is reported
};

struct NodeMetricInputs {
  const store::Store& cache;
  const state::Snapshot& state;
  const state::NodeMetricSpec& spec;
  Prediction prediction = {};
  std::map<std::string, bool, std::less<>> device_health = {};  // by uuid
  std::optional<Time> pods_confirmed = std::nullopt;
  PodTolerance tolerance = {};
  std::optional<Duration> max_age = std::nullopt;  // of the newest sample of a series; nothing: half of the window
  Time now;
  std::int64_t wall_ns = 0;
};

struct NodeMetricReport {
  NodeMetricStatus status;
  std::vector<std::string> problems;  // values that are left out or differ from the spec, a sentence each
  std::string refusal;                // why nothing may be reported; empty: `status` may
};

NodeMetricReport make_node_metric(const NodeMetricInputs& inputs);

// The status as the API server takes it: JSON text. Quantities are in canonical form.
std::string to_json(const NodeMetricStatus& status);
// The same as metrics.koordetector.sh takes it, with the details of the pods in the status. `period`: until the next
// report; zero: not stated.
std::string to_json(const NodeMetricStatus& status, const DetailsOfPods& details, Duration period = {});

}  // namespace koord::report
