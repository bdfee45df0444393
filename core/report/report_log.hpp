// SPDX-License-Identifier: Apache-2.0
// The log category for reports to the API server.
#pragma once

#include "core/log/log.hpp"

namespace koord::report {

inline constexpr log::Category report_log{"report"};

}  // namespace koord::report
