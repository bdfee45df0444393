// SPDX-License-Identifier: Apache-2.0
// koordctl query: aggregates or samples of one metric from the agent's metric cache.
#include "core/base/parse.hpp"
#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

void describe_query(po::options_description& options) {
  options.add_options()("window,w", po::value<std::string>()->default_value("5m"), "how far back, as 30s, 5m or 2h")(
      "agg,a", po::value<std::string>()->default_value("last,avg,max,p95"),
      "aggregations: last avg min max count p50 p90 p95 p99, with commas")(
      "label,l", po::value<std::vector<std::string>>()->value_name("KEY=VALUE")->composing(),
      "only series with this label; may be repeated")("raw", po::bool_switch(), "print samples instead of aggregates");
}

std::string target_of(const Invocation& invocation) {
  std::string target = "/api/v1/query?metric=" + percent_encode(invocation.text("argument")) +
                       "&window=" + percent_encode(invocation.text("window")) +
                       "&agg=" + percent_encode(invocation.text("agg"));
  if (invocation.has("label"))
    for (const std::string& label : invocation.options["label"].as<std::vector<std::string>>())
      target += "&label=" + percent_encode(label);
  if (invocation.options["raw"].as<bool>()) target += "&raw=true";
  return target;
}

std::string labels_of(const json::value& row) {
  std::vector<std::string> labels;
  for (const auto& [key, value] : json_mapping(row, "labels").as_object())
    labels.push_back(std::string(key) + "=" + (value.is_string() ? std::string(value.as_string()) : ""));
  return labels.empty() ? "-" : join(labels, ",");
}

std::string aggregates(const json::value& answer, const std::string& list) {
  std::vector<Column> columns{{"LABELS"}};
  std::vector<std::string> names = split(list, ',');
  for (const std::string& name : names) columns.push_back({name, true});
  for (const char* title : {"SAMPLES", "COVERED"}) columns.push_back({title, true});
  Table table(std::move(columns));
  for (const json::value& row : json_list(answer, "rows")) {
    std::vector<std::string> cells{labels_of(row)};
    for (const std::string& name : names)
      cells.push_back(format_number(json_number(json_mapping(row, "values"), name)));
    cells.push_back(format_number(json_number(row, "count")));
    cells.push_back(format_seconds(json_number(row, "to").value_or(0) - json_number(row, "from").value_or(0)));
    table.add(std::move(cells));
  }
  return table.render();
}

std::string samples(const json::value& answer) {
  Table table({{"TIME (UTC)"}, {"VALUE", true}, {"LABELS"}});
  for (const json::value& row : json_list(answer, "rows")) {
    for (const json::value& sample : json_list(row, "samples")) {
      if (!sample.is_array() || sample.as_array().size() != 2) continue;
      const json::array& pair = sample.as_array();
      table.add(
          {format_wall_time(pair[0].to_number<double>()), format_number(pair[1].to_number<double>()), labels_of(row)});
    }
  }
  return table.render();
}

Result<void> run_query(const Invocation& invocation) {
  std::string text = TRY(ask_agent(invocation, target_of(invocation)));
  if (invocation.output == Output::json) {
    invocation.out << text;
    return {};
  }
  json::value answer = TRY(parse_object(text));
  if (json_list(answer, "rows").empty())
    return not_found("no samples of '" + invocation.text("argument") + "' in the last " + invocation.text("window"));
  bool raw = invocation.options["raw"].as<bool>();
  invocation.out << (raw ? samples(answer) : aggregates(answer, invocation.text("agg")));
  return {};
}

}  // namespace

const Command kQuery{"query", "METRIC", "Show a metric over a span of time, a line per series.", describe_query,
                     run_query};

}  // namespace koord::ctl
