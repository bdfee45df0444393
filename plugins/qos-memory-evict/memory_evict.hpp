// SPDX-License-Identifier: Apache-2.0
// Selects pods to evict for lack of memory, by koordlet's three features. Pure: measurements in, demands out.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/shared/eviction/situation.hpp"

namespace koord::memory_evict {

using eviction::Decision;
using eviction::Situation;

inline constexpr std::string_view kBestEffort = "BEMemoryEvict";
inline constexpr std::string_view kAllocatable = "MemoryAllocatableEvict";
inline constexpr std::string_view kUsage = "MemoryEvict";

// The decision has pointers to the pods of the situation. `node_bytes`: the node's present usage; nullopt: not
// measured.
Decision decide(const Situation& situation, std::optional<std::int64_t> node_bytes);

}  // namespace koord::memory_evict
