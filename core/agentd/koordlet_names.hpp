// SPDX-License-Identifier: Apache-2.0
// Exports series under koordlet's names and labels, in addition to the agent's own names, for dashboards made for
// koordlet. Computed for each request from the current registry and snapshot. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/agentd/kubelet_durations.hpp"
#include "core/base/clock.hpp"
#include "core/metric/registry.hpp"
#include "core/predict/prediction.hpp"
#include "core/report/cpu_pools.hpp"
#include "core/report/node_metric.hpp"
#include "core/state/snapshot.hpp"

namespace koord::agentd {

struct KoordletSources {
  const metric::Registry& registry;
  const state::Snapshot& state;
  std::string_view node;
  double start_seconds;  // start of this process, Unix time
  Time now;
  const predict::Prediction* prediction = nullptr;     // null: switched off
  const KubeletDurations* kubelet = nullptr;           // null: the agent does not use the kubelet
  const report::NodeMetricStatus* reported = nullptr;  // null: nothing was reported
  const report::CpuPools* pools = nullptr;             // null: unknown
  std::uint64_t evictions = 0;                         // the number of evicted pods
};

// Appends the families that have a value, sorted by name.
void write_koordlet_names(std::string& out, const KoordletSources& sources);

}  // namespace koord::agentd
