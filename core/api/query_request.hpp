// SPDX-License-Identifier: Apache-2.0
// The parameters of /api/v1/query, taken apart and checked.
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

// The most that one request may cost the agent: series of an answer, samples of an answer with raw=true, and samples
// that are read for aggregates.
inline constexpr std::size_t kMostSeries = 10'000, kMostRawSamples = 100'000, kMostReadSamples = 10'000'000;

// "last", "avg", … as they stand in requests and answers.
std::string_view name_of(store::Aggregation aggregation);

// Fails if these series or samples are more than one request may cost; the error says what to request instead.
Result<void> check_cost(const QueryRequest& request, std::size_t series, std::size_t samples);

// An error names the parameter, what it was and what is expected.
Result<QueryRequest> parse_query_request(const http::Query& parameters, const Clock& clock);

}  // namespace koord::api
