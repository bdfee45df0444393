// SPDX-License-Identifier: Apache-2.0
#include "core/api/prediction_metrics.hpp"

#include <optional>

#include "core/metric/text_writer.hpp"

namespace koord::api {
namespace {

using metric::Labels;
using predict::ScoreReport;

constexpr const char* kCpu = "cpu";
constexpr const char* kMemory = "memory";

class ForecastPage {
 public:
  ForecastPage(std::string& out, std::string_view node) : writer_(out), node_(node) {}

  void family(std::string_view name, std::string_view help) {
    name_ = std::string(metric::kFamilyPrefix) + std::string(name);
    help_ = help;
  }
  // A family without values is omitted.
  void add(const Labels& labels, std::optional<double> value) {
    if (!value) return;
    if (!help_.empty()) writer_.header(name_, help_, metric::Type::gauge);
    help_.clear();
    Labels all;
    if (!node_.empty()) all.emplace_back(metric::kNodeLabel, node_);
    all.insert(all.end(), labels.begin(), labels.end());
    writer_.text(name_).text(metric::render_labels(all, true)).text(all.empty() ? " " : "} ").number(*value).text("\n");
  }

 private:
  metric::TextWriter writer_;
  std::string node_, name_, help_;
};

void add_scores(ForecastPage& page, const predict::Forecast& forecast, std::optional<double> ScoreReport::*cpu,
                std::optional<double> ScoreReport::*memory) {
  for (const auto& [subject, score] : forecast.scores) {
    page.add({{"subject", subject}, {"resource", kCpu}}, score.*cpu);
    page.add({{"subject", subject}, {"resource", kMemory}}, score.*memory);
  }
}

void add_predictions(ForecastPage& page, const predict::Prediction& prediction,
                     predict::Amounts predict::ProdPrediction::*what) {
  for (predict::Predictor predictor : predict::kPredictors) {
    auto prod = prediction.prod(predictor);
    if (!prod) continue;
    const std::string name(name_of(predictor));
    const predict::Amounts& amounts = (*prod).*what;
    page.add({{"predictor", name}, {"resource", kCpu}}, static_cast<double>(amounts.cpu_milli) / 1000);
    page.add({{"predictor", name}, {"resource", kMemory}}, static_cast<double>(amounts.memory_bytes));
  }
}

}  // namespace

void write_prediction_metrics(std::string& out, const predict::Prediction& prediction, std::string_view node) {
  const predict::PredictionStatus status = prediction.status();
  const predict::ForecastPtr forecast = prediction.current();
  ForecastPage page(out, node);
  page.family("predict_models", "Subjects with a model of usage: pods, priority classes, system, node.");
  page.add({}, static_cast<double>(status.models));
  page.family("predict_checkpoint_ok", "1 while models are saved to disk, 0 while they are in memory only.");
  page.add({}, !prediction.options().directory.empty() && status.checkpoint_problem.empty());
  page.family("predict_coverage",
              "Share of the last day's samples at or below the peak predicted up to an hour before.");
  add_scores(page, *forecast, &ScoreReport::cpu_coverage, &ScoreReport::memory_coverage);
  page.family("predict_peak_ratio",
              "Ratio of predicted to actual peaks, over the last day's whole hours: 1.2 is a fifth too much.");
  add_scores(page, *forecast, &ScoreReport::cpu_ratio, &ScoreReport::memory_ratio);
  page.family("predict_prod_reclaimable", "Cores or bytes requested by production and not expected to be used.");
  add_predictions(page, prediction, &predict::ProdPrediction::reclaimable);
  page.family("predict_prod_peak", "Cores or bytes that production is expected to use at its peak.");
  add_predictions(page, prediction, &predict::ProdPrediction::peak);
}

}  // namespace koord::api
