// SPDX-License-Identifier: Apache-2.0
#include "core/predict/predictors.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/state/objects.hpp"

namespace koord::predict {
namespace {

using ResourceMap = std::map<std::string, std::int64_t, std::less<>>;

constexpr std::string_view kRawAllocatable = "node.koordinator.sh/raw-allocatable";

// Returns an error without a code, because a value is unknown, but nothing has failed.
Error unknown(std::string text) { return {std::error_code(), std::move(text)}; }

bool is_production(const state::Pod& pod) {
  return pod.priority_class == state::PriorityClass::prod || pod.priority_class == state::PriorityClass::none;
}

bool is_ending(const state::Pod& pod) { return pod.deleting || has_ended(pod); }

Amounts requests_of(const state::Pod& pod) {
  const auto of = [&pod](std::string_view name) {
    auto found =
        std::find_if(pod.resources.begin(), pod.resources.end(), [name](const auto& r) { return r.name == name; });
    return found == pod.resources.end() ? 0 : std::max<std::int64_t>(found->request, 0);
  };
  return {of("cpu"), of("memory")};
}

Result<std::int64_t> amount_of(const ResourceMap& raw, const ResourceMap& allocatable, std::string_view resource) {
  for (const ResourceMap* map : {&raw, &allocatable}) {
    if (auto found = map->find(resource); found != map->end()) return std::max<std::int64_t>(found->second, 0);
  }
  return unknown("the node does not say how much " + std::string(resource) + " is allocatable");
}

// Returns the peaks of this subject. Fails with the reason if they are unknown.
Result<Amounts> peak_of(const Forecast& forecast, const Subject& subject, const PredictorOptions& options, Time now) {
  if (const SubjectForecast* known = forecast.find(subject, now))
    return peak_of(known->percentiles, options.margin_percent);
  return unknown("nothing was learnt of " + to_string(subject) +
                 (forecast.subjects.contains(subject) ? " for too long" : " yet"));
}

Amounts not_below_zero(const Amounts& amounts) { return most(amounts, {}); }

// Counts a pod, and returns whether its predicted peak can be used.
bool count(ProdPrediction& prediction, const SubjectForecast* known, const PredictorOptions& options, Time now) {
  ++prediction.pods;
  const bool cold = known != nullptr && now - known->first < options.cold_start;
  prediction.unlearnt += known == nullptr;
  prediction.cold += cold;
  return known != nullptr && !cold;
}

ProdPrediction by_pods(const Forecast& forecast, const state::Snapshot& state, const Amounts& allocatable,
                       const PredictorOptions& options, Time now) {
  ProdPrediction prediction;
  Amounts needed, spare;
  for (const state::Pod& pod : state.pods) {
    if (!is_production(pod) || is_ending(pod)) continue;
    const Amounts request = requests_of(pod);
    const SubjectForecast* known = forecast.find(pod_subject(pod.uid), now);
    if (!count(prediction, known, options, now)) {
      prediction.peak += request;
      continue;
    }
    const Amounts peak = peak_of(known->percentiles, options.margin_percent);
    needed += peak;
    spare += not_below_zero(request - peak);
  }
  prediction.reclaimable = least(not_below_zero(allocatable - needed), spare);
  prediction.peak += needed;
  return prediction;
}

Result<ProdPrediction> by_classes(const Forecast& forecast, const state::Snapshot& state, const Amounts& allocatable,
                                  const PredictorOptions& options, Time now) {
  ProdPrediction prediction;
  for (const Subject& subject :
       {system_subject(), class_subject(state::PriorityClass::prod), class_subject(state::PriorityClass::none)}) {
    prediction.peak += TRY(peak_of(forecast, subject, options, now));
  }
  Amounts requests;
  for (const state::Pod& pod : state.pods) {
    if (!is_production(pod) || is_ending(pod)) continue;
    const SubjectForecast* known = forecast.find(pod_subject(pod.uid), now);
    count(prediction, known, options, now);
    // A pod that was never measured is not part of the peaks of its class either.
    if (known != nullptr) requests += requests_of(pod);
  }
  prediction.reclaimable =
      least(not_below_zero(allocatable - prediction.peak), not_below_zero(requests - prediction.peak));
  return prediction;
}

}  // namespace

std::string_view name_of(Predictor predictor) {
  switch (predictor) {
    case Predictor::pod:
      return "pod";
    case Predictor::priority:
      return "priority";
    case Predictor::minimum:
      break;
  }
  return "minimum";
}

Amounts peak_of(const Percentiles& percentiles, std::int64_t margin_percent) {
  return {percentiles.p95.cpu_milli * (100 + margin_percent) / 100,
          percentiles.p98.memory_bytes * (100 + margin_percent) / 100};
}

Result<Amounts> allocatable_of(const state::Node& node) {
  ResourceMap raw;
  if (auto found = node.annotations.find(kRawAllocatable); found != node.annotations.end()) {
    auto parsed = state::parse_resources(found->second);
    if (!parsed) return std::move(parsed).error().context("the annotation " + std::string(kRawAllocatable));
    raw = std::move(parsed).value();
  }
  Amounts amounts;
  amounts.cpu_milli = TRY(amount_of(raw, node.allocatable, "cpu"));
  amounts.memory_bytes = TRY(amount_of(raw, node.allocatable, "memory"));
  return amounts;
}

Result<ProdPrediction> predict_prod(Predictor predictor, const Forecast& forecast, const state::Snapshot& state,
                                    const PredictorOptions& options, Time now) {
  if (state.versions.pods == 0) return unknown("the pods of this node are not known");
  const Amounts allocatable = TRY(allocatable_of(state.node));
  if (predictor == Predictor::pod) return by_pods(forecast, state, allocatable, options, now);
  ProdPrediction by_class = TRY(by_classes(forecast, state, allocatable, options, now));
  if (predictor == Predictor::priority) return by_class;
  ProdPrediction both = by_pods(forecast, state, allocatable, options, now);
  both.reclaimable = least(both.reclaimable, by_class.reclaimable);
  both.peak = most(both.peak, by_class.peak);
  return both;
}

}  // namespace koord::predict
