// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/log.hpp"

namespace koord::aggregated {

inline constexpr log::Category aggregated_log{"aggregated"};

}  // namespace koord::aggregated
