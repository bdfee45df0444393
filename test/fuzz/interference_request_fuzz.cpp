// SPDX-License-Identifier: Apache-2.0
// Queries for verdicts and for the matrix of waits over the data API: any parameters give a query within bounds, or an
// error that names the problem.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/api/interference_request.hpp"
#include "core/base/manual_clock.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

void check_filter(const api::VictimFilter& filter) {
  const metric::Labels labels = {{"pod_uid", "u1"}, {"pod_namespace", "shop"}, {"pod_name", "cart"}};
  if (filter.empty()) check(filter.accepts(labels, "shop/cart"));
  if (!filter.name_space.empty() && filter.name_space != "shop") check(!filter.accepts(labels, "shop/cart"));
}

void check_verdicts(const Result<api::InterferenceRequest>& request) {
  if (!request) return check(!request.error().message().empty());
  check(request->limit >= 1 && request->limit <= api::InterferenceRequest::kMostVerdicts);
  check(!request->since || !request->until || *request->since <= *request->until);
  check_filter(request->victim);
}

void check_matrix(const Result<api::MatrixRequest>& request) {
  if (!request) return check(!request.error().message().empty());
  check(request->limit >= 1 && request->limit <= api::MatrixRequest::kMostPairs);
  check_filter(request->victim);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ManualClock clock;
  const auto query = http::parse_query({reinterpret_cast<const char*>(data), size});
  if (!query) return 0;
  check_verdicts(api::parse_interference_request(*query, clock));
  check_matrix(api::parse_matrix_request(*query));
  return 0;
}
