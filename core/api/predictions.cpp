// SPDX-License-Identifier: Apache-2.0
// /api/v1/predictions: the predictions for each subject, the part of the requests of production pods that could be
// lent, and the accuracy of predictions.
#include "core/api/json_answer.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

double cores_of(const predict::Amounts& amounts) { return static_cast<double>(amounts.cpu_milli) / 1000; }

json::object amounts(const predict::Amounts& amounts) {
  return {{"cpuCores", cores_of(amounts)}, {"memoryBytes", amounts.memory_bytes}};
}

json::object percentiles(const predict::Percentiles& all) {
  return {{"p60", amounts(all.p60)},
          {"p90", amounts(all.p90)},
          {"p95", amounts(all.p95)},
          {"p98", amounts(all.p98)},
          {"max", amounts(all.max)}};
}

void add(json::object& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = *value;
}

json::object score(const predict::ScoreReport& report) {
  json::object object{{"samples", report.samples}};
  add(object, "cpuCoverage", report.cpu_coverage);
  add(object, "memoryCoverage", report.memory_coverage);
  add(object, "cpuPeakRatio", report.cpu_ratio);
  add(object, "memoryPeakRatio", report.memory_ratio);
  return object;
}

// Returns "namespace/name" of the pod; "" if the subject is not a pod or the pod has ended.
std::string pod_name(const predict::Subject& subject, const state::Snapshot& state) {
  for (const state::Pod& pod : state.pods)
    if (subject.kind == predict::Subject::Kind::pod && pod.uid == subject.pod_uid) return state::full_name(pod);
  return {};
}

json::array subjects(const predict::Forecast& forecast, const state::Snapshot& state, const Clock& clock) {
  json::array array;
  for (const auto& [subject, known] : forecast.subjects) {
    const std::string name = to_string(subject);
    json::object object{{"subject", name},
                        {"since", wall_seconds(clock, known.first)},
                        {"last", wall_seconds(clock, known.last)},
                        {"samples", known.samples},
                        {"expired", known.expires < clock.now()},
                        {"actual", {{"cpuCores", known.actual.cpu_cores}, {"memoryBytes", known.actual.memory_bytes}}},
                        {"percentiles", percentiles(known.percentiles)}};
    if (std::string pod = pod_name(subject, state); !pod.empty()) object["pod"] = pod;
    if (auto judged = forecast.scores.find(name); judged != forecast.scores.end())
      object["score"] = score(judged->second);
    array.push_back(std::move(object));
  }
  return array;
}

json::array predictors(const predict::Prediction& prediction) {
  json::array array;
  for (predict::Predictor predictor : predict::kPredictors) {
    json::object object{{"predictor", name_of(predictor)}};
    if (auto prod = prediction.prod(predictor)) {
      object["reclaimable"] = amounts(prod->reclaimable);
      object["peak"] = amounts(prod->peak);
      object["pods"] = prod->pods;
      object["unlearnt"] = prod->unlearnt;
      object["cold"] = prod->cold;
    } else {
      object["problem"] = prod.error().message();
    }
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace

http::Response get_predictions(const ApiSources& sources, const http::Request&) {
  if (sources.prediction == nullptr) return json_error(503, "prediction is switched off: predict.enabled is false");
  const predict::ForecastPtr forecast = sources.prediction->current();
  const predict::PredictionStatus status = sources.prediction->status();
  json::object answer{{"predictions", subjects(*forecast, *sources.services.hub.current(), sources.services.clock)},
                      {"production", predictors(*sources.prediction)},
                      {"checkpointProblem", status.checkpoint_problem},
                      {"trainingProblem", status.training_problem}};
  if (auto pods = forecast->scores.find(predict::kPodsScore); pods != forecast->scores.end())
    answer["podsScore"] = score(pods->second);
  return json_answer(answer);
}

}  // namespace koord::api
