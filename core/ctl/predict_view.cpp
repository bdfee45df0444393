// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/predict_view.hpp"

#include <fmt/core.h>

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

// Returns the share of the last day's usage that the prediction covered, and the ratio of predicted to real peaks:
// "99.8% 1.12x".
std::string judgement(const json::value& score, const char* coverage, const char* ratio) {
  const auto covered = json_number(score, coverage), over = json_number(score, ratio);
  if (!covered) return "-";
  return format_percent(covered) + (over ? fmt::format(" {:.2f}x", *over) : "");
}

template <class Format>
void add_resource(std::vector<std::string>& cells, const json::value& item, const char* key, Format format) {
  const json::value& percentiles = json_mapping(item, "percentiles");
  cells.push_back(format(json_number(json_mapping(item, "actual"), key)));
  for (const char* percentile : {"p60", "p95", "p98", "max"})
    cells.push_back(format(json_number(json_mapping(percentiles, percentile), key)));
}

std::vector<std::string> subject_row(const json::value& item) {
  const std::string pod = json_text(item, "pod");
  const json::value& score = json_mapping(item, "score");
  std::vector<std::string> cells{
      pod.empty() ? json_text(item, "subject") : pod,
      format_wall_time(json_number(item, "since").value_or(0)) + (json_flag(item, "expired") ? " (expired)" : ""),
      format_number(json_number(item, "samples"))};
  add_resource(cells, item, "cpuCores", format_cores);
  cells.push_back(judgement(score, "cpuCoverage", "cpuPeakRatio"));
  add_resource(cells, item, "memoryBytes", format_bytes);
  cells.push_back(judgement(score, "memoryCoverage", "memoryPeakRatio"));
  return cells;
}

std::string whole(const json::value& item, const char* key) { return format_number(json_number(item, key)); }

std::string explanation(const json::value& item) {
  const std::string problem = json_text(item, "problem");
  if (!problem.empty()) return problem;
  std::string text = "pods: " + whole(item, "pods");
  if (json_number(item, "unlearnt").value_or(0) > 0) text += ", nothing learnt yet of " + whole(item, "unlearnt");
  if (json_number(item, "cold").value_or(0) > 0) text += ", too little of " + whole(item, "cold");
  return text;
}

std::vector<std::string> predictor_row(const json::value& item) {
  const json::value &reclaimable = json_mapping(item, "reclaimable"), &peak = json_mapping(item, "peak");
  return {json_text(item, "predictor"),
          format_cores(json_number(reclaimable, "cpuCores")),
          format_bytes(json_number(reclaimable, "memoryBytes")),
          format_cores(json_number(peak, "cpuCores")),
          format_bytes(json_number(peak, "memoryBytes")),
          explanation(item)};
}

}  // namespace

Result<std::string> render_predictions(const std::string& text_of_agent) {
  const json::value answer = TRY(parse_object(text_of_agent));
  Table subjects({{"SUBJECT"},
                  {"SINCE"},
                  {"SAMPLES", true},
                  {"CPU NOW", true},
                  {"P60", true},
                  {"P95", true},
                  {"P98", true},
                  {"MAX", true},
                  {"HELD", true},
                  {"MEM NOW", true},
                  {"P60", true},
                  {"P95", true},
                  {"P98", true},
                  {"MAX", true},
                  {"HELD", true}});
  for (const json::value& item : json_list(answer, "predictions")) subjects.add(subject_row(item));
  Table predictors(
      {{"PREDICTOR"}, {"CPU TO LEND", true}, {"MEM TO LEND", true}, {"CPU PEAK", true}, {"MEM PEAK", true}, {"OF"}});
  for (const json::value& item : json_list(answer, "production")) predictors.add(predictor_row(item));
  std::string text = subjects.render() + "\n" + predictors.render();
  for (const char* problem : {"checkpointProblem", "trainingProblem"})
    if (std::string found = json_text(answer, problem); !found.empty()) text += "\n" + found + "\n";
  return text;
}

}  // namespace koord::ctl
