// SPDX-License-Identifier: Apache-2.0
// The parameters of /api/v1/query, taken apart and checked.
#pragma once

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

// "last", "avg", … as they stand in requests and answers.
std::string_view name_of(store::Aggregation aggregation);

// An error names the parameter, what it was and what is expected.
Result<QueryRequest> parse_query_request(const http::Query& parameters, const Clock& clock);

}  // namespace koord::api
