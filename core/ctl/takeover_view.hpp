// SPDX-License-Identifier: Apache-2.0
// Formats the response of /api/v1/takeover/koordlet for people: each value with its base, and the parts of the node
// that were not compared.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// Fails if the response is not a JSON object.
Result<std::string> render_takeover(const std::string& answer, bool is_dry_run);
// Fails if pods were omitted because they are not known yet, or if a value could not be set.
Result<void> takeover_result(const std::string& answer, bool is_dry_run);

}  // namespace koord::ctl
