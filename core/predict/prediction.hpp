// SPDX-License-Identifier: Apache-2.0
// Prediction: learns the peak usage of pods, priority classes, the node and the system from the metric cache, keeps it
// over restarts, and computes the part of the requests of production that could be lent.
//
//   Prediction prediction(options, store, hub, clock);
//   prediction.restore();   // once, before the first step()
//   prediction.step();      // each training period
//   prediction.prod();      // NodeMetric's prodReclaimable
//
// restore(), step() and save() by one thread at a time; the others [any thread]. All references must outlive it.
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
  Duration training_period{};  // how often is learnt, and over which time
  Duration checkpoint_period{};
  std::string directory;  // of the checkpoint; "": none
};

// How it does. A text is empty when all is well.
struct PredictionStatus {
  std::string checkpoint_problem;  // it learns on, in memory
  std::string training_problem;    // why of something nothing could be learnt in the last step
  std::size_t models = 0;
  std::size_t refused = 0;  // pods for which there is no room
};

class Prediction {
 public:
  Prediction(Options options, const store::Store& store, const state::Hub& hub, const Clock& clock);
  ~Prediction();

  // Takes what an earlier run learnt; returns what could not be taken and why, a sentence each.
  std::vector<std::string> restore();
  // Learns from the last training period and, when it is time, saves.
  void step();
  // Saves now, as before the end.
  void save();

  const Options& options() const { return options_; }
  ForecastPtr current() const;  // never null
  // For the hub's current snapshot, now.
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

  mutable std::mutex mutex_;  // of what follows
  ForecastPtr current_;
  PredictionStatus status_;
};

}  // namespace koord::predict
