// SPDX-License-Identifier: Apache-2.0
// Services: the parts of the agent that its modules share. The agent owns the parts, and they outlive the modules.
#pragma once

#include <functional>
#include <vector>

#include "core/base/clock.hpp"
#include "core/cgroup/layout.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/host/hook_statistics.hpp"
#include "core/host/plugin_status.hpp"
#include "core/knob/governor.hpp"
#include "core/kube/client.hpp"
#include "core/metric/host_metrics.hpp"
#include "core/service/capability_board.hpp"
#include "core/service/event_log.hpp"
#include "core/service/refusal_log.hpp"
#include "core/state/hub.hpp"
#include "core/store/store.hpp"
#include "core/verdict/store.hpp"

namespace koord::agentd {

struct Services {
  event::Loop& loop;
  event::WorkerPool& workers;
  const Clock& clock;
  store::Store& store;
  state::Hub& hub;
  const cgroup::Layout& layout;
  service::CapabilityBoard& capabilities;
  service::EventLog& events;
  service::RefusalLog& refusals;
  verdict::Store& verdicts;
  metric::HostMetrics& metrics;
  knob::Governor& governor;
  // Returns the client of the API server; null: not available yet. [loop thread]
  std::function<kube::Client*()> client;
  std::function<std::vector<host::PluginStatus>()> plugins;  // [any thread]
  host::HookStatistics* hook_statistics = nullptr;           // null: no statistics are kept
};

}  // namespace koord::agentd
