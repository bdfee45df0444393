// SPDX-License-Identifier: Apache-2.0
// An amount of the plugin ABI that may be absent.
#pragma once

#include <cstdint>
#include <optional>

#include "koordetector/plugin.h"

namespace koord::plugin {

inline std::optional<std::int64_t> if_known(std::int64_t amount) {
  return amount == KOORD_ABSENT ? std::nullopt : std::optional(amount);
}

}  // namespace koord::plugin
