// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/predict_view.hpp"

#include <fmt/core.h>

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

// Returns the share of the last day's usage that the prediction covered, and the ratio of predicted to real peaks: "99.8% 1.12x".
std::string judgement(const json::value& score, const char* coverage, const char* ratio) {
  const auto covered = number_of(score, coverage), over = number_of(score, ratio);
  if (!covered) return "-";
  return format_percent(covered) + (over ? fmt::format(" {:.2f}x", *over) : "");
}

template <class Format>
void add_resource(std::vector<std::string>& cells, const json::value& item, const char* key, Format format) {
  const json::value& percentiles = object_of(item, "percentiles");
  cells.push_back(format(number_of(object_of(item, "actual"), key)));
  for (const char* percentile : {"p60", "p95", "p98", "max"})
    cells.push_back(format(number_of(object_of(percentiles, percentile), key)));
}

std::vector<std::string> subject_row(const json::value& item) {
  const std::string pod = text_of(item, "pod");
  const json::value& score = object_of(item, "score");
  std::vector<std::string> cells{pod.empty() ? text_of(item, "subject") : pod,
                                 format_wall_time(number_of(item, "since").value_or(0)) + (flag_of(item, "expired") ? " (expired)" : ""),
                                 format_number(number_of(item, "samples"))};
  add_resource(cells, item, "cpuCores", format_cores);
  cells.push_back(judgement(score, "cpuCoverage", "cpuPeakRatio"));
  add_resource(cells, item, "memoryBytes", format_bytes);
  cells.push_back(judgement(score, "memoryCoverage", "memoryPeakRatio"));
  return cells;
}

std::string whole(const json::value& item, const char* key) { return format_number(number_of(item, key)); }

std::string explanation(const json::value& item) {
  const std::string problem = text_of(item, "problem");
  if (!problem.empty()) return problem;
  std::string text = "pods: " + whole(item, "pods");
  if (number_of(item, "unlearnt").value_or(0) > 0) text += ", nothing learnt yet of " + whole(item, "unlearnt");
  if (number_of(item, "cold").value_or(0) > 0) text += ", too little of " + whole(item, "cold");
  return text;
}

std::vector<std::string> predictor_row(const json::value& item) {
  const json::value &reclaimable = object_of(item, "reclaimable"), &peak = object_of(item, "peak");
  return {text_of(item, "predictor"),
          format_cores(number_of(reclaimable, "cpuCores")),
          format_bytes(number_of(reclaimable, "memoryBytes")),
          format_cores(number_of(peak, "cpuCores")),
          format_bytes(number_of(peak, "memoryBytes")),
          explanation(item)};
}

}  // namespace

Result<std::string> render_predictions(const std::string& text_of_agent) {
  const json::value answer = TRY(parse_object(text_of_agent));
  Table subjects({{"SUBJECT"},    {"SINCE"},        {"SAMPLES", true},  {"CPU NOW", true}, {"P60", true}, {"P95", true},
                  {"P98", true},  {"MAX", true},    {"HELD", true},     {"MEM NOW", true}, {"P60", true}, {"P95", true},
                  {"P98", true},  {"MAX", true},    {"HELD", true}});
  for (const json::value& item : array_of(answer, "predictions")) subjects.add(subject_row(item));
  Table predictors({{"PREDICTOR"}, {"CPU TO LEND", true}, {"MEM TO LEND", true}, {"CPU PEAK", true}, {"MEM PEAK", true}, {"OF"}});
  for (const json::value& item : array_of(answer, "production")) predictors.add(predictor_row(item));
  std::string text = subjects.render() + "\n" + predictors.render();
  for (const char* problem : {"checkpointProblem", "trainingProblem"})
    if (std::string found = text_of(answer, problem); !found.empty()) text += "\n" + found + "\n";
  return text;
}

}  // namespace koord::ctl
