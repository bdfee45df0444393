// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/log.hpp"

namespace koord::manager {

inline constexpr log::Category manager_log{"manager"};

}  // namespace koord::manager
