// SPDX-License-Identifier: Apache-2.0
// /api/v1/slo and /api/v1/slo/explain: the effective NodeSLO, and the origin of its values.
#include "core/state/slo.hpp"
#include "core/api/json_answer.hpp"
#include "core/api/pods_named.hpp"
#include "core/base/parse.hpp"
#include "core/state/slo_explain.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

json::array problems_of(const std::vector<state::SloProblem>& problems) {
  json::array array;
  for (const state::SloProblem& problem : problems) {
    json::object object{{"field", problem.path}, {"found", problem.found}, {"expected", problem.expected}};
    if (!problem.inactive.empty()) object["inactive"] = problem.inactive;
    array.push_back(std::move(object));
  }
  return array;
}

json::array fields_of(const state::SloExplainer& explainer) {
  json::array array;
  for (const state::SloLeaf& leaf : state::slo_leaves()) {
    const state::SloExplanation explanation = explainer.explain(leaf);
    if (explanation.value.empty()) continue;
    array.push_back(
        {{"field", leaf.path}, {"value", as_json(explanation.value)}, {"from", name_of(explanation.winner)}});
  }
  return array;
}

json::array layers_of(const state::SloExplanation& explanation) {
  json::array array;
  for (const state::SloLayer& layer : explanation.layers) {
    json::object object{
        {"from", name_of(layer.origin)}, {"title", layer.title}, {"counts", layer.origin == explanation.winner}};
    if (!layer.value.empty()) object["value"] = as_json(layer.value);
    if (!layer.note.empty()) object["note"] = layer.note;
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace

http::Response get_slo(const ApiSources& sources, const http::Request&) {
  state::SnapshotPtr snapshot = sources.services.hub.current();
  if (snapshot->versions.node_slo == 0) return json_error(503, "the NodeSLO of this node is not known yet");
  const std::string received = snapshot->received_slo ? *snapshot->received_slo : std::string();
  const Result<state::EffectiveSlo> effective = state::effective_slo(received);
  const Result<state::SloExplainer> explainer = state::SloExplainer::make(snapshot);
  if (!effective || !explainer)
    return json_error(500, effective ? explainer.error().message() : effective.error().message());
  return json_answer({{"spec", as_json(snapshot->node_slo)},
                      {"received", as_json(received)},
                      {"problems", problems_of(effective->problems)},
                      {"fields", fields_of(*explainer)}});
}

http::Response get_slo_explanation(const ApiSources& sources, const http::Request& request) {
  state::SnapshotPtr snapshot = sources.services.hub.current();
  const state::Pod* pod = nullptr;
  if (auto title = request.query.get("pod")) {
    const std::vector<const state::Pod*> pods = pods_named(*snapshot, *title);
    if (const auto reason = why_pods_unknown(sources); reason && pods.empty())
      return json_error(503, pods_unknown_because(*reason));
    if (pods.empty()) return json_error(404, no_pod_named(*title));
    if (pods.size() > 1) return json_error(409, several_pods_named(*title, pods));
    pod = pods.front();
  }
  const Result<const state::SloLeaf*> leaf = state::find_slo_field(request.query.get("field").value_or(""), pod);
  if (!leaf) return json_error(400, leaf.error().message());
  const Result<state::SloExplainer> explainer = state::SloExplainer::make(snapshot);
  if (!explainer) return json_error(500, explainer.error().message());
  const state::SloExplanation explanation = explainer->explain(**leaf, pod);
  json::object answer{{"field", (*leaf)->path},
                      {"meaning", (*leaf)->field->meaning},
                      {"expected", expected_of(*(*leaf)->field)},
                      {"from", name_of(explanation.winner)},
                      {"layers", layers_of(explanation)}};
  if (!explanation.value.empty()) answer["value"] = as_json(explanation.value);
  return json_answer(answer);
}

}  // namespace koord::api
