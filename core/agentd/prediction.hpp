// SPDX-License-Identifier: Apache-2.0
// Prediction in the agent: trains on a strand of the worker pool once in each training period, and reports its health
// in /readyz. The model is in core/predict. Functions are [loop thread] unless marked.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/agentd/services.hpp"
#include "core/api/module_health.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/config/config.hpp"
#include "core/event/strand.hpp"
#include "core/predict/prediction.hpp"

namespace koord::agentd {

class PredictionModule {
 public:
  // The services must outlive this object.
  PredictionModule(const Services& services, const config::PredictSettings& settings);

  // Loads the model of an earlier run in this thread, then trains periodically. Does nothing if prediction is switched
  // off.
  void start();
  // Ends the training and saves the model.
  void stop();

  // Null: switched off. [any]
  const predict::Prediction* prediction() const { return prediction_.get(); }
  // [any]
  api::ModuleHealth health() const;

 private:
  void step();
  void log_problem();

  const Services& services_;
  std::unique_ptr<predict::Prediction> prediction_;
  ProblemTracker problems_;  // used by the strand and, after its last task, by stop()
  std::atomic<bool> stepping_ = false;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<event::Strand> strand_;  // must be last (destroyed first), because its tasks use the other members
};

}  // namespace koord::agentd
