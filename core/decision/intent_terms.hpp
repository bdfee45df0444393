// SPDX-License-Identifier: Apache-2.0
// Terms that intents and decision records share. Plain values.
#pragma once

#include <cstdint>

namespace koord::decision {

// Cgroups from the outside in: a pod's is in that of its QoS class. The node's knobs are in none. The values are those
// of the plugin ABI.
enum class Level { qos = 0, pod = 1, container = 2, node = 3 };

// The part of the value. The values are those of the plugin ABI.
enum class Role : std::uint8_t { set = 0, base = 1, scale = 2, cap = 3, floor = 4 };

}  // namespace koord::decision
