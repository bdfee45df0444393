// SPDX-License-Identifier: Apache-2.0
// Parses and checks the parameters of /api/v1/decisions and of POST /api/v1/modes/{target}. Pure. [any thread]
#pragma once

#include <optional>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/decision/decision.hpp"
#include "core/decision/modes.hpp"
#include "core/http/url.hpp"

namespace koord::api {

// An error contains the parameter, its value and the expected values. `since` and `until` are Unix seconds, or a time
// before now, as in `since=10m`.
Result<decision::DecisionQuery> parse_decision_request(const http::Query& parameters, const Clock& clock);

struct ModeRequest {
  std::optional<koord::Mode> mode;  // nullopt: return to the configured mode
  Duration how_long{};
};
Result<ModeRequest> parse_mode_request(const http::Query& parameters);

}  // namespace koord::api
