// SPDX-License-Identifier: Apache-2.0
// Parses and checks the parameters of /api/v1/query.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/url.hpp"
#include "core/store/types.hpp"

namespace koord::api {

struct QueryRequest {
  store::Query query;
  std::vector<store::Aggregation> aggregations;
  bool raw = false;
};

inline constexpr Duration kDefaultWindow = std::chrono::minutes(5);
inline constexpr Duration kLongestWindow = std::chrono::hours(87'600);  // ten years

// Limits of the cost of one request: series in a response, samples in a response with raw=true, and samples read for
// aggregates.
inline constexpr std::size_t kMostSeries = 10'000, kMostRawSamples = 100'000, kMostReadSamples = 10'000'000;

// Returns the name in requests and responses: "last", "avg", …
std::string_view name_of(store::Aggregation aggregation);

// Fails if the series or samples exceed the limits. The error states what to request instead.
Result<void> check_cost(const QueryRequest& request, std::size_t series, std::size_t samples);

// An error contains the parameter, its value and the expected values.
Result<QueryRequest> parse_query_request(const http::Query& parameters, const Clock& clock);

}  // namespace koord::api
