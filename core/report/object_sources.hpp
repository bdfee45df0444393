// SPDX-License-Identifier: Apache-2.0
// The sources for the content of this node's objects: the snapshot, the kubelet's file, and facts that advisors publish
// in the metric cache. [worker]
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/report/cpu_pools.hpp"
#include "core/report/node_metric.hpp"
#include "core/report/object_reporter.hpp"
#include "core/store/store.hpp"

namespace koord::report {

// Returns a fact of a running plugin as JSON text; nullopt if the fact is missing or the plugin does not run.
using Facts = std::function<std::optional<std::string>(const std::string& plugin, const std::string& name)>;

// The content of the NodeResourceTopology.
class TopologySource {
 public:
  TopologySource(const state::Hub& hub, const Clock& clock, NodeRoots roots, Facts facts, PodTolerance tolerance)
      : hub_(hub), clock_(clock), roots_(std::move(roots)), facts_(std::move(facts)), tolerance_(tolerance) {}

  ObjectReporter::Object object();

  // Returns the result of the last poll; nullopt: unknown. [any]
  std::optional<CpuPools> pools() const;

 private:
  Result<Merge> compute(const state::Snapshot& state);
  Result<CpuPools> read_pools(const state::Snapshot& state) const;

  const state::Hub& hub_;
  const Clock& clock_;
  const NodeRoots roots_;
  const Facts facts_;
  const PodTolerance tolerance_;

  mutable std::mutex mutex_;
  std::optional<CpuPools> pools_;
};

// Returns the description of the Device object.
ObjectReporter::Object device_object(const Clock& clock, Facts facts);
// Returns by UUID whether the GPU is healthy.
std::map<std::string, bool, std::less<>> gpu_health(const Facts& facts);

}  // namespace koord::report
