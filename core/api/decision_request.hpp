// SPDX-License-Identifier: Apache-2.0
// The parameters of /api/v1/decisions and of POST /api/v1/modes/{target}, taken apart and checked. Pure. [any thread]
#pragma once

#include <optional>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/decision/decision.hpp"
#include "core/decision/modes.hpp"
#include "core/http/url.hpp"

namespace koord::api {

// An error names the parameter, what it was and what is expected. `since` and `until` are Unix seconds, or, as
// `since=10m`, how long ago.
Result<decision::DecisionQuery> parse_decision_request(const http::Query& parameters, const Clock& clock);

struct ModeRequest {
  std::optional<koord::Mode> mode;  // nullopt: the configured one holds again
  Duration how_long{};
};
Result<ModeRequest> parse_mode_request(const http::Query& parameters);

}  // namespace koord::api
