// SPDX-License-Identifier: Apache-2.0
// The routes that the agent serves over HTTP. All routes except the POSTs are read-only. Each POST is recorded as an
// event with the user and process of the operator. The data API is only on the unix socket, for processes that
// OperatorAccess admits. Prometheus and kubelet can also read /metrics, /healthz and /readyz over TCP (listen.metrics).
// The kubelet can also read /healthz and /readyz over a separate listener (listen.probes).
//
// clang-format off
//   GET /metrics                    Prometheus text
//   GET /healthz, /readyz           "ok"; /readyz: one line per module, and status 503 while a module is not ready
//   GET /api/v1/node                the node, its kubelet, its topology, its latest values and the age of each part
//   GET /api/v1/pods                pods, their containers, and containers outside pods, each with its latest "values"
//                                   and their "times". Values older than two periods of their plugin are omitted,
//                                   in /node, too
//   GET /api/v1/query?metric=M      aggregates: &agg=avg,p95 &window=5m (or &from, &to: Unix seconds) &label=k=v …;
//                                   &raw=true: samples instead of aggregates. "to" and "ageSeconds" of a row: time and
//                                   age of its newest sample. 400 if the query costs too much (README.md)
//   GET /api/v1/plugins, /features, /capabilities
//   POST /api/v1/plugins/{id}/reload   loads the plugin's file again. Responds after the load, with 409 if it failed
//   POST /api/v1/restore            reverts all knobs and stops all strategies from writing until an operator allows it
//   GET /api/v1/takeover/koordlet   values that koordlet left on this node, their bases and the reasons. POST sets them
//                                   to their bases
//   GET /api/v1/events              observations and actions of plugins and the host, the oldest first
//   GET /api/v1/predictions         predictions for pods, priority classes, system and node, resources that could be
//                                   lent, and the accuracy of predictions
//   GET /api/v1/report              the objects reported to the API server, computed now, and the state of the writes
//   GET /api/v1/decisions           intents with their results: the page of the newest ones, sorted from old to new:
//                                   &since, &until (Unix seconds, or a time before now) &pod &cgroup &knob &plugin
//                                   &outcome &limit=100. For the previous page, pass "before" of the response
//   GET /api/v1/knobs               changed or proposed knobs: value, original, each intent with its result
//   GET /api/v1/why?pod=P           the same for one pod and its parent cgroups, its last decisions, the last answers
//                                   of hooks for it, and its events
//   GET /api/v1/modes               the mode of each strategy and runtime hook, its source and its end
//   POST /api/v1/modes/{target}?mode=M&for=D   overrides the mode of a strategy, a hook or "node" for a while;
//                                   mode=configured ends the override
//   GET /api/v1/hooks               the connection to the container runtime, and counts of the answers of each hook
//   POST /api/v1/hooks/{stage}      answers a question of koord-cri-proxy about a pod or container (its README.md)
//   GET /api/v1/interference        verdicts: which container is held up, and by which others, the newest first: &pod
//                                   &namespace &container &resource &kind &state=standing|ended|any &since &until
//                                   &limit=100. The default without a time and a state: standing verdicts
//   GET /api/v1/interference/matrix the pairs of victim and culprit in the last window: &pod &namespace &container
//                                   &resource &limit=100
//   GET /api/v1/slo                 the effective NodeSLO, the received one and its rejected fields
//   GET /api/v1/slo/explain?field=F the origin of a field's value; &pod=NAMESPACE/NAME: the value for this pod
// clang-format on
//
// Times in responses are Unix seconds of the wall clock. Unknown values are omitted, never 0. Handlers run on several
// workers at the same time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/api/metrics_page.hpp"
#include "core/api/module_health.hpp"
#include "core/config/feature_gates.hpp"
#include "core/host/plugin_status.hpp"
#include "core/http/routes.hpp"
#include "core/knob/governor.hpp"
#include "core/metric/host_metrics.hpp"
#include "core/predict/prediction.hpp"
#include "core/service/shared_services.hpp"

namespace koord::api {

class HookSource;
class ReportSource;
class TakeoverSource;

// The sources of the responses. All functions may be called from any thread; all sources outlive the server.
struct ApiSources {
  service::SharedServices& services;
  metric::HostMetrics& host_metrics;
  knob::Governor& governor;
  cgroup::Hierarchy hierarchy;
  std::function<std::vector<host::PluginStatus>()> plugins;
  std::function<std::vector<config::GateState>()> features;
  std::function<std::vector<ModuleHealth>()> health;
  // Reloads a plugin from its file. `done` is called once, on a different thread.
  std::function<void(const std::string& id, std::function<void(const Result<void>&)> done)> reload_plugin;
  metric::ExportRule exported = {};           // exported series of plugins' metrics on /metrics; empty: all
  metric::HostExportRule host_exported = {};  // exported series of the host's own metrics
  // Appends koordlet's metric families; empty: not requested.
  std::function<void(std::string& text)> koordlet_names = {};
  const predict::Prediction* prediction = nullptr;  // null: switched off
  std::string_view pod_source = {};                 // "kubelet", "apiserver", "file", "cgroup"
  const ReportSource* reporting = nullptr;
  // Reverts all knobs, in the calling thread.
  std::function<std::vector<knob::Undone>(const std::string& by)> restore = {};
  const TakeoverSource* takeover = nullptr;                                     // null: not available
  std::function<std::vector<config::IsolationLayer>()> minimum_isolation = {};  // plugins.minimumIsolation
  HookSource* hooks = nullptr;                                                  // null: not available
};

// Appends the text of /metrics.
void write_metrics(std::string& text, const ApiSources& sources);

// Returns the routes for listen.probes.
http::Routes probe_routes(const ApiSources& sources);
// Returns the routes for listen.metrics: metrics and probes. `page` must outlive the server.
http::Routes public_routes(const ApiSources& sources, MetricsPage& page);
// Returns the routes for the unix socket: metrics, probes and the data API.
http::Routes local_routes(const ApiSources& sources, MetricsPage& page);

// Records a change by an operator through the API, or the reason of its refusal, as an event of the host and in the
// log.
void record_change(const ApiSources& sources, const http::Request& request, const std::string& what,
                   const Result<void>& result = {});

// The handlers of the data API, one file each.
http::Response get_node(const ApiSources& sources, const http::Request& request);
http::Response get_pods(const ApiSources& sources, const http::Request& request);
http::Response get_query(const ApiSources& sources, const http::Request& request);
http::Response get_plugins(const ApiSources& sources, const http::Request& request);
inline constexpr std::string_view kReloadPath = "/api/v1/plugins/{id}/reload";
void post_reload(const ApiSources& sources, const http::Request& request, const http::Reply& reply);
http::Response get_takeover(const ApiSources& sources, const http::Request& request);
void post_takeover(const ApiSources& sources, const http::Request& request, const http::Reply& reply);
void post_restore(const ApiSources& sources, const http::Request& request, const http::Reply& reply);
http::Response get_features(const ApiSources& sources, const http::Request& request);
http::Response get_capabilities(const ApiSources& sources, const http::Request& request);
http::Response get_events(const ApiSources& sources, const http::Request& request);
http::Response get_predictions(const ApiSources& sources, const http::Request& request);
http::Response get_report(const ApiSources& sources, const http::Request& request);
http::Response get_decisions(const ApiSources& sources, const http::Request& request);
http::Response get_knobs(const ApiSources& sources, const http::Request& request);
http::Response get_why(const ApiSources& sources, const http::Request& request);
http::Response get_modes(const ApiSources& sources, const http::Request& request);
inline constexpr std::string_view kModePath = "/api/v1/modes/{target}";
void post_mode(const ApiSources& sources, const http::Request& request, const http::Reply& reply);
void get_hooks(const ApiSources& sources, const http::Request& request, const http::Reply& reply);
inline constexpr std::string_view kHookQuestionPath = "/api/v1/hooks/{stage}";
void post_hook_question(const ApiSources& sources, const http::Request& request, const http::Reply& reply);
http::Response get_interference(const ApiSources& sources, const http::Request& request);
http::Response get_wait_matrix(const ApiSources& sources, const http::Request& request);
http::Response get_slo(const ApiSources& sources, const http::Request& request);
http::Response get_slo_explanation(const ApiSources& sources, const http::Request& request);

}  // namespace koord::api
