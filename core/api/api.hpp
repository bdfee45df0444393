// SPDX-License-Identifier: Apache-2.0
// The routes that the agent serves over HTTP. All but the POSTs are read-only; each POST is an event that names the
// user and process of the operator. The data API is on the unix socket alone, for processes that OperatorAccess admits.
// Prometheus and kubelet get /metrics, /healthz and /readyz on TCP as well (listen.metrics), and the kubelet the last
// two on a listener of their own (listen.probes).
//
// clang-format off
//   GET /metrics                    Prometheus text
//   GET /healthz, /readyz           "ok"; /readyz: a line per module, 503 while one of them is not ready
//   GET /api/v1/node                the node, its kubelet, its topology, its latest values and the age of each part
//   GET /api/v1/pods                pods, their containers, and containers outside pods, each with its latest "values"
//                                   and their "times"; a value older than two periods of its plugin is left out, in
//                                   /node as well
//   GET /api/v1/query?metric=M      aggregates: &agg=avg,p95 &window=5m (or &from, &to: Unix seconds) &label=k=v …;
//                                   &raw=true: the samples themselves; "to" and "ageSeconds" of a row say when its
//                                   newest was taken. 400 if it costs too much (README.md)
//   GET /api/v1/plugins, /features, /capabilities
//   POST /api/v1/plugins/{id}/reload   loads the plugin's file again; answers when that is done, 409 if it failed
//   POST /api/v1/restore            reverts all knobs and stops all strategies from writing until an operator allows it
//   GET /api/v1/takeover/koordlet   values that koordlet left on this node, their bases and why; POST sets them to
//                                   their bases
//   GET /api/v1/events              observations and actions of plugins and the host, the oldest first
//   GET /api/v1/predictions         predictions for pods, priority classes, system and node, resources that could be
//                                   lent, and the accuracy of predictions
//   GET /api/v1/report              the objects reported to the API server, computed now, and the state of the writes
//   GET /api/v1/decisions           intents with their results, a page of the newest, the oldest first: &since, &until
//                                   (Unix seconds, or how long ago) &pod &cgroup &knob &plugin &outcome &limit=100; the
//                                   answer's "before" is the argument for the page before it
//   GET /api/v1/knobs               knobs that are changed or proposed: value, original, each intent with its result
//   GET /api/v1/why?pod=P           the same for one pod and its parent cgroups, its last decisions, the last answers
//                                   of hooks for it, and its events
//   GET /api/v1/modes               the mode of each strategy and runtime hook, its source and its end
//   POST /api/v1/modes/{target}?mode=M&for=D   overrides such a mode, or that of "node", for a while; mode=configured
//                                   ends it
//   GET /api/v1/hooks               the connection to the container runtime, and the answers of each hook in numbers
//   POST /api/v1/hooks/{stage}      the question of koord-cri-proxy about a pod or container (core/criproxy/README.md)
//   GET /api/v1/interference        verdicts: which container is held up, and by which others: &pod &namespace
//                                   &container &resource &kind &state=standing|ended|any &since &until &limit=100; the
//                                   newest first. Without a time and a state those that stand
//   GET /api/v1/interference/matrix the pairs of victim and culprit of the last window: &pod &namespace &container
//                                   &resource &limit=100
//   GET /api/v1/slo                 the effective NodeSLO, the received one and its rejected fields
//   GET /api/v1/slo/explain?field=F the origin of a field's value; &pod=NAMESPACE/NAME: as it is for this pod
// clang-format on
//
// Times in answers are Unix seconds of the wall clock; unknown values are left out, never 0. Handlers run on workers,
// several at a time.
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

// Where the answers come from; everything may be called from any thread and outlives the server.
struct ApiSources {
  service::SharedServices& services;
  metric::HostMetrics& host_metrics;
  knob::Governor& governor;
  cgroup::Hierarchy hierarchy;
  std::function<std::vector<host::PluginStatus>()> plugins;
  std::function<std::vector<config::GateState>()> features;
  std::function<std::vector<ModuleHealth>()> health;
  // Replaces a plugin by what its file holds now; `done` is called once, on another thread.
  std::function<void(const std::string& id, std::function<void(const Result<void>&)> done)> reload_plugin;
  metric::ExportRule exported = {};           // series of plugins' metrics on /metrics; empty: all
  metric::HostExportRule host_exported = {};  // those of the host's own metrics
  // Appends the families that koordlet would have; empty: not requested.
  std::function<void(std::string& text)> koordlet_names = {};
  const predict::Prediction* prediction = nullptr;  // null: switched off
  std::string_view pod_source = {};                 // "kubelet", "apiserver", "file", "cgroup"
  const ReportSource* reporting = nullptr;
  // Reverts all knobs, in this thread.
  std::function<std::vector<knob::Undone>(const std::string& by)> restore = {};
  const TakeoverSource* takeover = nullptr;                                     // null: not here
  std::function<std::vector<config::IsolationLayer>()> minimum_isolation = {};  // plugins.minimumIsolation
  HookSource* hooks = nullptr;                                                  // null: not here
};

// Appends the text of /metrics.
void write_metrics(std::string& text, const ApiSources& sources);

// For listen.probes.
http::Routes probe_routes(const ApiSources& sources);
// For listen.metrics: metrics and probes. `page` outlives the server.
http::Routes public_routes(const ApiSources& sources, MetricsPage& page);
// For the unix socket: those and the data API.
http::Routes local_routes(const ApiSources& sources, MetricsPage& page);

// Records what an operator changed through the API, or why it was refused, as an event of the host and in the log.
void record_change(const ApiSources& sources, const http::Request& request, const std::string& what,
                   const Result<void>& result = {});

// The parts of the data API, a file each.
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
