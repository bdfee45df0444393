// SPDX-License-Identifier: Apache-2.0
// /api/v1/query: aggregates or samples of a metric from the metric cache.
#include "core/api/json_answer.hpp"
#include "core/api/query_request.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

Result<json::array> aggregate_rows(const store::Store& store, const QueryRequest& request, const Clock& clock) {
  const std::vector<store::AggregateRow> found = store.aggregate(request.query, request.aggregations);
  std::size_t samples = 0;
  for (const store::AggregateRow& row : found) samples += row.count;
  TRY(check_cost(request, found.size(), samples));
  json::array rows;
  for (const store::AggregateRow& row : found) {
    json::object values;
    for (std::size_t i = 0; i < row.values.size(); ++i) values[name_of(request.aggregations[i])] = row.values[i];
    rows.push_back({{"labels", json_map(row.labels)},
                    {"values", std::move(values)},
                    {"count", row.count},
                    {"from", wall_seconds(clock, row.from)},
                    {"to", wall_seconds(clock, row.to)},
                    {"ageSeconds", to_seconds(clock.now() - row.to)}});
  }
  return rows;
}

Result<json::array> sample_rows(const store::Store& store, const QueryRequest& request, const Clock& clock) {
  const std::vector<store::SeriesSamples> found = store.samples(request.query);
  std::size_t count = 0;
  for (const store::SeriesSamples& series : found) count += series.samples.size();
  TRY(check_cost(request, found.size(), count));
  json::array rows;
  for (const store::SeriesSamples& series : found) {
    json::array samples;
    for (const store::TimedValue& sample : series.samples)
      samples.push_back(json::array{wall_seconds(clock, sample.time), sample.value});
    rows.push_back({{"labels", json_map(series.labels)}, {"samples", std::move(samples)}});
  }
  return rows;
}

}  // namespace

http::Response get_query(const ApiSources& sources, const http::Request& request) {
  const Clock& clock = sources.services.clock;
  Result<QueryRequest> parsed = parse_query_request(request.query, clock);
  if (!parsed) return json_error(400, parsed.error().message());
  const store::Store& store = sources.services.feed.store();
  Result<json::array> rows = parsed->raw ? sample_rows(store, *parsed, clock) : aggregate_rows(store, *parsed, clock);
  if (!rows) return json_error(400, rows.error().message());
  return json_answer({{"metric", parsed->query.metric},
                      {"from", wall_seconds(clock, parsed->query.from)},
                      {"to", wall_seconds(clock, parsed->query.to)},
                      {"rows", std::move(rows).value()}});
}

}  // namespace koord::api
