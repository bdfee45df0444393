// SPDX-License-Identifier: Apache-2.0
// The log category of all sources of the node's state.
#pragma once

#include "core/log/log.hpp"

namespace koord::agentd {

inline constexpr log::Category state_log{"state"};

}  // namespace koord::agentd
