// SPDX-License-Identifier: Apache-2.0
// The log category of everything that feeds the state of the node.
#pragma once

#include "core/log/log.hpp"

namespace koord::agentd {

inline constexpr log::Category state_log{"state"};

}  // namespace koord::agentd
