// SPDX-License-Identifier: Apache-2.0
// Exports the agent's metrics about itself as families koordetector_host_*, _store_* and _http_*. They are read at each
// scrape of /metrics.
#pragma once

#include <functional>
#include <memory>

#include "core/cgroup/reader.hpp"
#include "core/http/server.hpp"
#include "core/knob/governor.hpp"
#include "core/kubeauth/guard.hpp"
#include "core/metric/host_metrics.hpp"
#include "core/service/capability_board.hpp"
#include "core/service/event_log.hpp"
#include "core/service/store_feed.hpp"
#include "core/state/hub.hpp"

namespace koord::agentd {

// All references must outlive the last collection of `metrics`.
void export_process(metric::HostMetrics& metrics);
void export_cgroup_files(metric::HostMetrics& metrics, const cgroup::Reader& reader);
void export_store(metric::HostMetrics& metrics, const service::StoreFeed& feed);
void export_http(metric::HostMetrics& metrics, const http::Server& server);
// Exports the number of refused requests to the metrics port.
void export_refusals(metric::HostMetrics& metrics, std::shared_ptr<const kubeauth::GuardCounters> refused);
void export_capabilities(metric::HostMetrics& metrics, const service::CapabilityBoard& board);
// `period_of`: returns the time within which a source confirms this part.
void export_state_age(metric::HostMetrics& metrics, const state::Hub& hub, const Clock& clock,
                      std::function<Duration(state::Part)> period_of);
void export_events(metric::HostMetrics& metrics, const service::EventLog& events);
void export_decisions(metric::HostMetrics& metrics, const knob::Governor& governor);

}  // namespace koord::agentd
