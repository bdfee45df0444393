// SPDX-License-Identifier: Apache-2.0
// /api/v1/interference: standing and ended verdicts. /api/v1/interference/matrix: which container waits for which.
#include <algorithm>
#include <vector>

#include "core/api/interference_request.hpp"
#include "core/api/json_answer.hpp"
#include "core/api/pods_named.hpp"
#include "core/api/verdict_json.hpp"
#include "core/api/verdict_judges.hpp"
#include "core/api/wait_matrix.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

json::object judge_json(const std::vector<host::PluginStatus>& plugins) {
  const host::PluginStatus* judge = judge_of(plugins);
  if (judge == nullptr) return {{"plugin", kJudge}, {"state", "missing"}};
  return {{"plugin", judge->id}, {"gate", judge->gate}, {"state", to_string(judge->state)}, {"reason", judge->reason}};
}

json::array resources_json(const ApiSources& sources, const std::vector<host::PluginStatus>& plugins) {
  json::array resources;
  for (const service::Capability& one : verdict_capabilities(sources.services.capabilities.list(), plugins)) {
    const bool is_judged = one.state == service::CapabilityState::supported;
    resources.push_back({{"resource", one.name.substr(one.name.find('.') + 1)},
                         {"state", name_of(one.state)},
                         {"method", is_judged ? method_of(one.detail) : std::string_view()},
                         {"detail", one.detail},
                         {"plugin", one.plugin}});
  }
  return resources;
}

// Returns the constants of the judging plugin; "" if unknown.
std::string rule_of(const ApiSources& sources) {
  const auto rule = sources.services.capabilities.find("verdict.rule", kJudge);
  return rule && rule->plugin == kJudge ? rule->detail : std::string();
}

std::vector<verdict::RecordPtr> matching(const ApiSources& sources, const InterferenceRequest& request) {
  verdict::Query query;
  query.resource = request.resource;
  query.kind = request.kind;
  query.from = request.since;
  query.to = request.until;
  std::vector<verdict::RecordPtr> records = sources.services.verdicts.history(query);
  std::erase_if(records, [&](const verdict::RecordPtr& record) { return !request.accepts(*record); });
  // The verdicts of the node's own plugins come first, so that verdicts of third-party plugins do not displace them.
  std::stable_partition(records.begin(), records.end(),
                        [](const verdict::RecordPtr& record) { return record->origin == verdict::Origin::own; });
  return records;
}

// Returns whether neither a pod nor a verdict has the name. In that case the name is an error, because an empty result
// would hide a typing error. Before the first list of pods every name may exist.
bool is_unknown_pod(const ApiSources& sources, const VictimFilter& victim) {
  if (victim.pod.empty() || why_pods_unknown(sources)) return false;
  const state::SnapshotPtr snapshot = sources.services.hub.current();
  const bool is_container =
      std::any_of(snapshot->standalone.begin(), snapshot->standalone.end(),
                  [&](const state::Container& container) { return container.name == victim.pod; });
  if (is_container || !pods_named(*snapshot, victim.pod).empty()) return false;
  InterferenceRequest any_time;
  any_time.state = InterferenceRequest::State::any;
  any_time.victim.pod = victim.pod;
  return matching(sources, any_time).empty();
}

json::object head_of(const ApiSources& sources) {
  const std::vector<host::PluginStatus> plugins = sources.plugins();
  const Clock& clock = sources.services.clock;
  return {{"time", wall_seconds(clock, clock.now())},
          {"judge", judge_json(plugins)},
          {"rule", rule_of(sources)},
          {"resources", resources_json(sources, plugins)}};
}

}  // namespace

http::Response get_interference(const ApiSources& sources, const http::Request& request) {
  const Result<InterferenceRequest> asked = parse_interference_request(request.query, sources.services.clock);
  if (!asked) return json_error(400, asked.error().message());
  InterferenceRequest of_any_state = *asked;
  of_any_state.state = InterferenceRequest::State::any;
  std::vector<verdict::RecordPtr> records = matching(sources, of_any_state);
  const auto ended = static_cast<std::size_t>(std::count_if(
      records.begin(), records.end(), [](const verdict::RecordPtr& record) { return record->ended.has_value(); }));
  std::erase_if(records, [&](const verdict::RecordPtr& record) { return !asked->accepts(*record); });
  if (records.empty() && is_unknown_pod(sources, asked->victim))
    return json_error(404, no_pod_named(asked->victim.pod));
  const bool has_older = records.size() > asked->limit;
  if (has_older) records.resize(asked->limit);
  json::array verdicts;
  for (const verdict::RecordPtr& record : records) verdicts.push_back(json_of(*record, sources.services.clock));
  json::object answer = head_of(sources);
  answer["pod"] = asked->victim.pod;
  answer["history"] = asked->state != InterferenceRequest::State::standing;
  answer["verdicts"] = std::move(verdicts);
  answer["ended"] = ended;
  answer["hasOlder"] = has_older;
  return json_answer(answer);
}

http::Response get_wait_matrix(const ApiSources& sources, const http::Request& request) {
  const Result<MatrixRequest> asked = parse_matrix_request(request.query);
  if (!asked) return json_error(400, asked.error().message());
  json::object answer = head_of(sources);
  answer["matrices"] = matrices_json(sources, *asked);
  return json_answer(answer);
}

}  // namespace koord::api
