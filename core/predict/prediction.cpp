// SPDX-License-Identifier: Apache-2.0
#include "core/predict/prediction.hpp"

#include "core/predict/checkpoint.hpp"
#include "core/predict/checkpoint_file.hpp"
#include "core/predict/observation.hpp"
#include "core/state/hub.hpp"

namespace koord::predict {

Prediction::Prediction(Options options, const store::Store& store, const state::Hub& hub, const Clock& clock)
    : options_(std::move(options)),
      store_(store),
      hub_(hub),
      clock_(clock),
      trainer_(options_.trainer),
      current_(std::make_shared<const Forecast>()) {}

Prediction::~Prediction() = default;

std::vector<std::string> Prediction::restore() {
  if (options_.directory.empty()) return {};
  auto text = load_checkpoint(options_.directory);
  if (!text) return {text.error().message()};
  ReadCheckpoint read = read_checkpoint(*text, options_.trainer.half_lives);
  trainer_.restore(std::move(read.checkpoint), clock_.now());
  publish({});
  return std::move(read.problems);
}

void Prediction::step() {
  const Time now = clock_.now();
  Observation observation = observe(*hub_.current(), store_, now, options_.training_period);
  trainer_.train(observation, now);
  publish(std::move(observation.problem));
  // Saves immediately after the start, to detect whether saving works.
  if (saved_ == Time() || now - saved_ >= options_.checkpoint_period) save();
}

void Prediction::save() {
  if (options_.directory.empty() || trainer_.models() == 0) return;
  const Time now = clock_.now();
  auto saved = save_checkpoint(options_.directory, write_checkpoint(trainer_.checkpoint(now)));
  if (saved) saved_ = now;
  std::lock_guard lock(mutex_);
  status_.checkpoint_problem = saved ? std::string() : saved.error().message();
}

void Prediction::publish(std::string training_problem) {
  auto forecast = std::make_shared<const Forecast>(trainer_.forecast(clock_.now()));
  std::lock_guard lock(mutex_);
  current_ = std::move(forecast);
  status_.training_problem = std::move(training_problem);
  status_.models = trainer_.models();
  status_.refused = trainer_.refused();
}

ForecastPtr Prediction::current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

Result<ProdPrediction> Prediction::prod(Predictor predictor) const {
  return predict_prod(predictor, *current(), *hub_.current(), options_.predictor, clock_.now());
}

PredictionStatus Prediction::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace koord::predict
