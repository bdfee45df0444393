// SPDX-License-Identifier: Apache-2.0
// ReportSource: the objects that the agent writes to the API server, and the state of the writes. [any thread]
#pragma once

#include <optional>

#include "core/report/cpu_pools.hpp"
#include "core/report/direct_reporter.hpp"
#include "core/report/node_metric_reporter.hpp"
#include "core/report/object_reporter.hpp"

namespace koord::api {

class ReportSource {
 public:
  virtual ~ReportSource() = default;

  // Computes the current report, with or without a cluster.
  virtual report::NodeMetricReport compute() const = 0;

  // Returns the object in the cluster and the state of its writes; nullopt if reports are switched off or the agent has
  // no cluster.
  virtual std::optional<report::NodeMetricReporter::View> node_metric() const = 0;
  virtual std::optional<report::DirectReporter::View> direct() const = 0;
  virtual std::optional<report::ObjectReporter::View> topology() const = 0;
  virtual std::optional<report::ObjectReporter::View> devices() const = 0;
  // Returns the CPUs that pods share; nullopt: unknown.
  virtual std::optional<report::CpuPools> pools() const = 0;
};

}  // namespace koord::api
