// SPDX-License-Identifier: Apache-2.0
// Text of /api/v1/takeover/koordlet for people: each value with its base, and the parts of the node that were not
// compared.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// An error: the answer is no JSON object.
Result<std::string> render_takeover(const std::string& answer, bool is_dry_run);
// An error if pods were left out because they are not known yet, or if a value could not be set.
Result<void> takeover_result(const std::string& answer, bool is_dry_run);

}  // namespace koord::ctl
