// SPDX-License-Identifier: Apache-2.0
// Trainer: the models of all subjects and the scores of their predictions. Learns usage at given times, and returns
// forecasts. Pure except for its models; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/predict/checkpoint.hpp"
#include "core/predict/forecast.hpp"
#include "core/predict/model.hpp"
#include "core/predict/observation.hpp"
#include "core/predict/subject.hpp"

namespace koord::predict {

struct TrainerOptions {
  HalfLives half_lives;
  Duration model_expiry{};
  std::int64_t margin_percent = 0;  // added to the peaks that scores judge
  std::size_t max_pods = 1024;      // the limit of models of pods; further pods are not learnt
};

class Trainer {
 public:
  explicit Trainer(const TrainerOptions& options) : options_(options) {}

  // Learns one sample of each subject with known usage. Forgets subjects that had no sample for too long.
  void train(const Observation& observation, Time now);

  // Returns the forecast at `now`, with scores.
  Forecast forecast(Time now) const;
  Checkpoint checkpoint(Time now) const;
  // Restores a checkpoint. Times later than `now` come from a different clock. In that case, the state counts as saved
  // now. Each restored subject expires unless it gets a sample within the expiry time from now.
  void restore(Checkpoint checkpoint, Time now);

  std::size_t models() const { return models_.size(); }
  std::size_t refused() const { return refused_; }  // pods refused in the last training

 private:
  void learn(const Subject& subject, const Usage& usage, Time now);
  bool has_room_for(const Subject& subject) const;
  void judge(const Observation& observation, Time now);
  std::optional<Amounts> peak_of(const Subject& subject, Time now) const;

  const TrainerOptions options_;
  std::map<Subject, Model> models_;
  std::map<std::string, Score, std::less<>> scores_;
  std::size_t pod_models_ = 0;
  std::size_t refused_ = 0;
};

// The name of the score for the sum of production pods' peaks, each predicted separately.
inline constexpr std::string_view kPodsScore = "prod-pods";

}  // namespace koord::predict
