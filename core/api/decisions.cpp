// SPDX-License-Identifier: Apache-2.0
// /api/v1/decisions, /knobs and /why: the intents of strategies for each cgroup, with their reasons, original values
// and results.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/decision_json.hpp"
#include "core/api/decision_request.hpp"
#include "core/api/json_answer.hpp"
#include "core/api/pods_named.hpp"
#include "core/metric/find_label.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

// The number of last decisions shown for a pod.
constexpr std::size_t kLastDecisions = 20;

json::array decisions_of(const decision::DecisionPage& page) {
  json::array decisions;
  for (const decision::Decision& one : page.decisions) decisions.push_back(json_of(one));
  return decisions;
}

decision::DecisionPage last_of(const ApiSources& sources, std::string_view pod,
                               std::optional<decision::DecisionKind> kind = {}) {
  decision::DecisionQuery query;
  query.pod = pod;
  query.kind = kind;
  query.limit = kLastDecisions;
  return sources.governor.log().find(query);
}

// Returns whether the knob belongs to the pod or to one of its parent cgroups.
bool concerns(const knob::KnobView& knob, const state::Pod& pod) {
  if (knob.subject.pod_uid == pod.uid) return true;
  return knob.level == decision::Level::qos && !knob.cgroup_dir.empty() &&
         pod.cgroup_dir.starts_with(knob.cgroup_dir + "/");
}

json::array events_of(const ApiSources& sources, std::string_view pod_uid) {
  json::array events;
  for (const service::Event& event : sources.services.events.events()) {
    const std::string* uid = metric::find_label(event.subject, "pod_uid");
    if (!uid || *uid != pod_uid) continue;
    events.push_back({{"time", wall_seconds(sources.services.clock, event.time)},
                      {"plugin", event.plugin},
                      {"what", event.what},
                      {"why", event.why}});
  }
  return events;
}

// Returns the parts of the annotation that have no effect.
std::vector<std::string> unknown_hands_off(const ApiSources& sources, std::string_view annotation) {
  std::vector<std::string> plugins;
  for (const host::PluginStatus& plugin : sources.plugins()) plugins.push_back(plugin.id);
  return knob::unknown_names(decision::parse_hands_off(annotation), plugins);
}

http::Response why_of_pod(const ApiSources& sources, const state::Pod& pod) {
  json::object about{{"uid", pod.uid},
                     {"namespace", pod.namespace_},
                     {"name", pod.name},
                     {"cgroup", pod.cgroup_dir},
                     {"qosClass", name_of(pod.koord_qos)}};
  if (auto annotation = pod.annotations.find(decision::kHandsOffAnnotation); annotation != pod.annotations.end()) {
    about["handsOff"] = annotation->second;
    about["handsOffUnknown"] = json_strings(unknown_hands_off(sources, annotation->second));
  }
  json::array knobs;
  for (const knob::KnobView& knob : sources.governor.knobs())
    if (concerns(knob, pod)) knobs.push_back(json_of(knob, sources.services.clock));
  return json_answer({{"pod", std::move(about)},
                      {"nodeHandsOff", sources.governor.mode_view(decision::kNodeTarget).mode == koord::Mode::off},
                      {"knobs", std::move(knobs)},
                      {"decisions", decisions_of(last_of(sources, pod.uid, decision::DecisionKind::knob))},
                      {"hooks", decisions_of(last_of(sources, pod.uid, decision::DecisionKind::hook))},
                      {"evictions", decisions_of(last_of(sources, pod.uid, decision::DecisionKind::eviction))},
                      {"events", events_of(sources, pod.uid)}});
}

// Answers for a pod that has ended, with its stored decisions.
http::Response why_of_past(const ApiSources& sources, std::string_view title) {
  const decision::DecisionPage page = last_of(sources, title);
  if (page.decisions.empty()) return json_error(404, no_pod_named(title));
  const decision::Decision& last = page.decisions.back();
  return json_answer(
      {{"pod", {{"uid", last.pod_uid}, {"namespace", last.pod_namespace}, {"name", last.pod_name}, {"ended", true}}},
       {"knobs", json::array()},
       {"decisions", decisions_of(last_of(sources, last.pod_uid, decision::DecisionKind::knob))},
       {"hooks", decisions_of(last_of(sources, last.pod_uid, decision::DecisionKind::hook))},
       {"evictions", decisions_of(last_of(sources, last.pod_uid, decision::DecisionKind::eviction))},
       {"events", events_of(sources, last.pod_uid)}});
}

}  // namespace

http::Response get_decisions(const ApiSources& sources, const http::Request& request) {
  const Result<decision::DecisionQuery> query = parse_decision_request(request.query, sources.services.clock);
  if (!query) return json_error(400, query.error().message());
  const decision::DecisionPage page = sources.governor.log().find(*query);
  json::object answer{{"decisions", decisions_of(page)}};
  if (page.has_older) answer["before"] = page.decisions.front().number;
  if (const auto archive = sources.governor.log().archive(); archive && !archive->problem.empty())
    answer["problem"] = archive->problem;
  return json_answer(answer);
}

http::Response get_knobs(const ApiSources& sources, const http::Request&) {
  json::array knobs;
  for (const knob::KnobView& knob : sources.governor.knobs()) knobs.push_back(json_of(knob, sources.services.clock));
  return json_answer({{"knobs", std::move(knobs)}});
}

http::Response get_why(const ApiSources& sources, const http::Request& request) {
  const std::string_view title = request.query.get("pod").value_or("");
  if (title.empty()) return json_error(400, "pod is missing; expected NAMESPACE/NAME, NAME or uid");
  const state::SnapshotPtr snapshot = sources.services.hub.current();
  const std::vector<const state::Pod*> pods = pods_named(*snapshot, title);
  if (const auto reason = why_pods_unknown(sources); reason && pods.empty())
    return json_error(503, pods_unknown_because(*reason));
  if (pods.empty()) return why_of_past(sources, title);
  if (pods.size() == 1) return why_of_pod(sources, *pods.front());
  return json_error(409, several_pods_named(title, pods));
}

}  // namespace koord::api
