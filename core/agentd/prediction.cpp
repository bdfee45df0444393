// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/prediction.hpp"

#include "core/base/parse.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category predict_log{"predict"};

predict::Options options_of(const config::PredictSettings& settings) {
  const auto margin = static_cast<std::int64_t>(settings.safety_margin_percent);
  return {.trainer = {{settings.cpu_half_life, settings.memory_half_life}, settings.model_expiry, margin},
          .predictor = {settings.cold_start, margin},
          .training_period = settings.training_period,
          .checkpoint_period = settings.checkpoint_period,
          .directory = settings.directory};
}

}  // namespace

PredictionModule::PredictionModule(const Services& services, const config::PredictSettings& settings)
    : services_(services) {
  if (!settings.enabled) return;
  prediction_ =
      std::make_unique<predict::Prediction>(options_of(settings), services.store, services.hub, services.clock);
  strand_ = std::make_unique<event::Strand>(services.workers, "predict");
}

void PredictionModule::start() {
  if (!prediction_) return;
  for (const std::string& problem : prediction_->restore())
    log::warn(predict_log, "the checkpoint in '{}': {}, ignoring", prediction_->options().directory, problem);
  timer_ = services_.loop.every(prediction_->options().training_period, [this] { step(); });
}

void PredictionModule::stop() {
  timer_.reset();
  if (!prediction_) return;
  strand_.reset();
  prediction_->save();
  log_problem();
}

void PredictionModule::step() {
  if (stepping_.exchange(true)) return;
  strand_->post([this] {
    prediction_->step();
    log_problem();
    stepping_ = false;
  });
}

void PredictionModule::log_problem() {
  const std::string problem = prediction_->status().checkpoint_problem;
  const auto change = problems_.update("checkpoint", problem);
  if (change == ProblemTracker::Change::over) log::info(predict_log, "predictions are saved again");
  if (change == ProblemTracker::Change::begun)
    log::warn(predict_log, "{}, keeping predictions in memory only", problem);
}

api::ModuleHealth PredictionModule::health() const {
  if (!prediction_) return {"prediction", true, "off"};
  const predict::PredictionStatus status = prediction_->status();
  std::vector<std::string> troubles;
  if (!status.checkpoint_problem.empty()) troubles.push_back("in memory only: " + status.checkpoint_problem);
  if (!status.training_problem.empty()) troubles.push_back("no model of the whole node: " + status.training_problem);
  if (status.refused > 0) troubles.push_back(std::to_string(status.refused) + " pods are more than it has room for");
  return {"prediction", true, troubles.empty() ? "ok" : "degraded, " + join(troubles, "; ")};
}

}  // namespace koord::agentd
