// SPDX-License-Identifier: Apache-2.0
// The families that dashboards made for koordlet use, in addition to our own: our series under koordlet's names and
// labels. Made for each request, from the current registry and snapshot. [any thread]
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
  double start_seconds;  // of this process, Unix time
  Time now;
  const predict::Prediction* prediction = nullptr;     // null: switched off
  const KubeletDurations* kubelet = nullptr;           // none: the kubelet is not asked
  const report::NodeMetricStatus* reported = nullptr;  // null: nothing was
  const report::CpuPools* pools = nullptr;             // null: not known
  std::uint64_t evictions = 0;                         // of pods that were ended
};

// Appends the families that have a value, by name.
void write_koordlet_names(std::string& out, const KoordletSources& sources);

}  // namespace koord::agentd
