// SPDX-License-Identifier: Apache-2.0
// Prediction: learns the peak usage of pods, priority classes, the node and the system from the metric cache, keeps it
// over restarts, and computes how much of the requests of production pods could be lent.
//
//   Prediction prediction(options, store, hub, clock);
//   prediction.restore();   // once, before the first step()
//   prediction.step();      // each training period
//   prediction.prod();      // NodeMetric's prodReclaimable
//
// Only one thread at a time may call restore(), step() and save(); the others are for [any thread]. All references must
// outlive this object.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/predict/forecast.hpp"
#include "core/predict/predictors.hpp"
#include "core/predict/trainer.hpp"

namespace koord::state {
class Hub;
}
namespace koord::store {
class Store;
}

namespace koord::predict {

struct Options {
  TrainerOptions trainer;
  PredictorOptions predictor;
  Duration training_period{};  // how often to learn, and the time range of each step
  Duration checkpoint_period{};
  std::string directory;  // directory of the checkpoint; "": no checkpoint
};

// The status of the prediction. An empty text means no problem.
struct PredictionStatus {
  std::string checkpoint_problem;  // the prediction continues to learn, in memory
  std::string training_problem;    // why the last step could not learn from some values
  std::size_t models = 0;
  std::size_t refused = 0;  // pods without a model, because there are too many
};

class Prediction {
 public:
  Prediction(Options options, const store::Store& store, const state::Hub& hub, const Clock& clock);
  ~Prediction();

  // Takes over the models of an earlier run. Returns a sentence for each part that could not be taken over, with the
  // reason.
  std::vector<std::string> restore();
  // Learns from the last training period, and saves when it is time.
  void step();
  // Saves now. To be called before the process ends.
  void save();

  const Options& options() const { return options_; }
  ForecastPtr current() const;  // never null
  // Predicts for the hub's current snapshot, at this moment.
  Result<ProdPrediction> prod(Predictor predictor = Predictor::minimum) const;
  PredictionStatus status() const;

 private:
  void publish(std::string training_problem);

  const Options options_;
  const store::Store& store_;
  const state::Hub& hub_;
  const Clock& clock_;
  Trainer trainer_;
  Time saved_;

  mutable std::mutex mutex_;  // guards the members below
  ForecastPtr current_;
  PredictionStatus status_;
};

}  // namespace koord::predict
