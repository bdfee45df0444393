// SPDX-License-Identifier: Apache-2.0
#include "core/predict/trainer.hpp"

#include <algorithm>

#include "core/predict/predictors.hpp"

namespace koord::predict {
namespace {

bool is_production(state::PriorityClass klass) {
  return klass == state::PriorityClass::prod || klass == state::PriorityClass::none;
}

bool is_pod(const Subject& subject) { return subject.kind == Subject::Kind::pod; }

bool is_judged(std::string_view name) {
  if (name == kPodsScore) return true;
  Result<Subject> subject = parse_subject(name);
  return subject && !is_pod(*subject);
}

// Returns whether anything is used. Without usage, as in a class without pods, a prediction cannot be judged.
bool uses_something(const Usage& usage) { return usage.cpu_cores > 0 || usage.memory_bytes > 0; }

}  // namespace

void Trainer::train(const Observation& observation, Time now) {
  refused_ = 0;
  for (const auto& [uid, pod] : observation.pods) learn(pod_subject(uid), pod.usage, now);
  for (const auto& [klass, usage] : observation.classes) learn(class_subject(klass), usage, now);
  if (observation.node) learn(node_subject(), *observation.node, now);
  if (observation.system) learn(system_subject(), *observation.system, now);
  std::erase_if(models_, [now](const auto& entry) { return entry.second.expires < now; });
  pod_models_ = static_cast<std::size_t>(
      std::count_if(models_.begin(), models_.end(), [](const auto& entry) { return is_pod(entry.first); }));
  judge(observation, now);
}

void Trainer::learn(const Subject& subject, const Usage& usage, Time now) {
  auto found = models_.find(subject);
  if (found == models_.end()) {
    if (!has_room_for(subject)) {
      ++refused_;
      return;
    }
    found = models_.emplace(subject, Model(options_.half_lives)).first;
    pod_models_ += is_pod(subject);
  }
  found->second.add(usage, now);
  found->second.expires = now + options_.model_expiry;
}

bool Trainer::has_room_for(const Subject& subject) const { return !is_pod(subject) || pod_models_ < options_.max_pods; }

void Trainer::judge(const Observation& observation, Time now) {
  const auto add = [&](const std::string& name, const Usage& actual, const std::optional<Amounts>& predicted) {
    scores_[name].add(now, actual, uses_something(actual) ? predicted : std::nullopt);
  };
  const auto judge_subject = [&](const Subject& subject, const Usage& actual) {
    add(to_string(subject), actual, peak_of(subject, now));
  };
  if (observation.node) judge_subject(node_subject(), *observation.node);
  if (observation.system) judge_subject(system_subject(), *observation.system);
  for (const auto& [klass, usage] : observation.classes) judge_subject(class_subject(klass), usage);

  Usage used;
  std::optional<Amounts> predicted = Amounts();
  for (const auto& [uid, pod] : observation.pods) {
    if (!is_production(pod.priority_class)) continue;
    used += pod.usage;
    const std::optional<Amounts> peak = peak_of(pod_subject(uid), now);
    if (peak && predicted)
      *predicted += *peak;
    else
      predicted.reset();  // the sum would lack this pod
  }
  add(std::string(kPodsScore), used, predicted);
}

// Returns the predicted peaks; nullopt if the model is younger than an hour, because such a model is not judged.
std::optional<Amounts> Trainer::peak_of(const Subject& subject, Time now) const {
  auto found = models_.find(subject);
  if (found == models_.end() || now - found->second.first < Score::kHorizon) return std::nullopt;
  return predict::peak_of(found->second.percentiles(), options_.margin_percent);
}

Forecast Trainer::forecast(Time now) const {
  Forecast forecast;
  forecast.made = now;
  for (const auto& [subject, model] : models_)
    forecast.subjects[subject] = {model.first,   model.last,   model.samples,
                                  model.expires, model.actual, model.percentiles()};
  for (const auto& [name, score] : scores_) {
    if (ScoreReport report = score.report(); report.samples > 0) forecast.scores[name] = report;
  }
  return forecast;
}

Checkpoint Trainer::checkpoint(Time now) const {
  Checkpoint checkpoint{now, models_, {}};
  for (const auto& [name, score] : scores_)
    if (!score.hours().empty()) checkpoint.scores[name] = score.hours();
  return checkpoint;
}

void Trainer::restore(Checkpoint checkpoint, Time now) {
  const Duration ahead = std::max(checkpoint.saved - now, Duration::zero());
  for (auto& [subject, model] : checkpoint.models) {
    if (!has_room_for(subject)) continue;
    model.move_back(ahead);
    if (model.last > now) continue;
    model.expires = now + options_.model_expiry;
    pod_models_ += models_.insert_or_assign(subject, std::move(model)).second && is_pod(subject);
  }
  for (auto& [name, hours] : checkpoint.scores) {
    if (!is_judged(name)) continue;
    Score& score = scores_[name];
    score.restore(std::move(hours), now + ahead);
    score.move_back(ahead);
  }
}

}  // namespace koord::predict
