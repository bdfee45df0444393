// SPDX-License-Identifier: Apache-2.0
#include "core/api/query_request.hpp"

#include <algorithm>
#include <array>

#include "core/base/parse.hpp"

namespace koord::api {
namespace {

using store::Aggregation;

struct Name {
  std::string_view text;
  Aggregation aggregation;
};
constexpr std::array<Name, 9> kNames{{{"last", Aggregation::last},
                                      {"avg", Aggregation::avg},
                                      {"min", Aggregation::min},
                                      {"max", Aggregation::max},
                                      {"count", Aggregation::count},
                                      {"p50", Aggregation::p50},
                                      {"p90", Aggregation::p90},
                                      {"p95", Aggregation::p95},
                                      {"p99", Aggregation::p99}}};

constexpr std::array<std::string_view, 7> kParameters{"metric", "agg", "window", "from", "to", "label", "raw"};

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

Result<std::vector<Aggregation>> parse_aggregations(std::string_view list) {
  std::vector<Aggregation> aggregations;
  while (auto word = next_field(list, ',')) {
    auto name = std::find_if(kNames.begin(), kNames.end(), [&](const Name& n) { return n.text == *word; });
    if (name == kNames.end())
      return invalid("agg " + in_quotes(*word) + " is not one of last, avg, min, max, count, p50, p90, p95, p99");
    if (std::find(aggregations.begin(), aggregations.end(), name->aggregation) != aggregations.end())
      return invalid("agg has " + in_quotes(*word) + " twice");
    aggregations.push_back(name->aggregation);
  }
  if (aggregations.empty()) return invalid("agg is empty");
  return aggregations;
}

// Converts Unix seconds of the wall clock to host time.
Result<Time> parse_time(std::string_view name, std::string_view text, const Clock& clock) {
  Result<double> seconds = parse_double(text);
  if (!seconds || !(*seconds >= 0 && *seconds < 9e9))
    return invalid(std::string(name) + " " + in_quotes(text) + " is not a time in Unix seconds");
  std::int64_t wall_ns = static_cast<std::int64_t>(*seconds * 1e9);
  return clock.now() + Duration(wall_ns - clock.wall_ns());
}

Result<std::pair<std::string, std::string>> parse_label(std::string_view text) {
  std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return invalid("label " + in_quotes(text) + " is not key=value");
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Result<void> check_names(const http::Query& parameters) {
  for (const auto& [name, value] : parameters.parameters()) {
    if (std::find(kParameters.begin(), kParameters.end(), name) != kParameters.end()) continue;
    std::vector<std::string> known(kParameters.begin(), kParameters.end());
    return invalid("unknown parameter " + in_quotes(name) + ", known are " + join(known, ", "));
  }
  return {};
}

Result<void> parse_span(const http::Query& parameters, const Clock& clock, store::Query& query) {
  query.to = clock.now();
  if (auto to = parameters.get("to")) query.to = TRY(parse_time("to", *to, clock));
  Duration window = kDefaultWindow;
  if (auto text = parameters.get("window")) window = TRY(parse_duration(*text));
  if (window > kLongestWindow) return invalid("window is longer than " + format_duration(kLongestWindow));
  query.from = query.to - window;
  if (auto from = parameters.get("from")) query.from = TRY(parse_time("from", *from, clock));
  if (query.from > query.to) return invalid("from is later than to");
  return {};
}

}  // namespace

std::string_view name_of(Aggregation aggregation) {
  return std::find_if(kNames.begin(), kNames.end(), [=](const Name& n) { return n.aggregation == aggregation; })->text;
}

Result<void> check_cost(const QueryRequest& request, std::size_t series, std::size_t samples) {
  const std::string fewer = "fewer series by label=KEY=VALUE";
  if (series > request.query.most_rows)
    return invalid("the answer has more than " + std::to_string(request.query.most_rows) +
                   " series, the bound of one request; ask for " + fewer);
  if (samples <= request.query.most_samples) return {};
  return invalid((request.raw ? "the answer has more than " : "the aggregates need more than ") +
                 std::to_string(request.query.most_samples) +
                 " samples, the bound of one request; ask for a shorter window, for " + fewer +
                 (request.raw ? ", or without raw" : ""));
}

Result<QueryRequest> parse_query_request(const http::Query& parameters, const Clock& clock) {
  TRY(check_names(parameters));
  QueryRequest request;
  auto metric = parameters.get("metric");
  if (!metric || metric->empty()) return invalid("the parameter metric is missing");
  request.query.metric = *metric;
  TRY(parse_span(parameters, clock, request.query));
  for (std::string_view label : parameters.get_all("label")) request.query.match.push_back(TRY(parse_label(label)));
  request.aggregations = TRY(parse_aggregations(parameters.get("agg").value_or("last,avg,max,p95")));
  std::string_view raw = parameters.get("raw").value_or("false");
  if (raw != "true" && raw != "false") return invalid("raw " + in_quotes(raw) + " is neither true nor false");
  request.raw = raw == "true";
  request.query.most_samples = request.raw ? kMostRawSamples : kMostReadSamples;
  request.query.most_rows = kMostSeries;
  return request;
}

}  // namespace koord::api
