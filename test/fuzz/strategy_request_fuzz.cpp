// SPDX-License-Identifier: Apache-2.0
// Queries for decisions and modes over the data API: any parameters give a query within bounds, or an error that names
// the problem.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/api/decision_request.hpp"
#include "core/base/manual_clock.hpp"
#include "core/decision/modes.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

// Checks that a time is not before 1970 and within the range of a wall clock.
void check_decisions(const Result<decision::DecisionQuery>& query) {
  if (!query) return check(!query.error().message().empty());
  check(query->limit >= 1 && query->limit <= decision::DecisionQuery::kMostRecords);
  check(query->before >= 1 && query->before <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

void check_mode(const Result<api::ModeRequest>& request, const Clock& clock) {
  if (!request) return check(!request.error().message().empty());
  if (!request->mode) return check(request->how_long == Duration::zero());
  decision::Modes modes;
  const bool may =
      request->how_long >= decision::Modes::kLeastOverride && request->how_long <= decision::Modes::kMostOverride;
  if (!may || !modes.override_mode("burst", decision::Modes::Override{*request->mode, clock.now() + request->how_long}))
    return;
  check(modes.of("burst") == *request->mode);
  modes.expire(clock.now() + request->how_long);
  check(modes.of("burst") == koord::Mode::shadow);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ManualClock clock;
  const auto query = http::parse_query({reinterpret_cast<const char*>(data), size});
  if (!query) return 0;
  check_decisions(api::parse_decision_request(*query, clock));
  check_mode(api::parse_mode_request(*query), clock);
  return 0;
}
