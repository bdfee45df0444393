// SPDX-License-Identifier: Apache-2.0
// How many times this program has asked for memory, plugins in it included. [any thread]
#pragma once

#include <cstdint>

namespace koord::ctl {

// nullptr where the allocator is not ours to count, as under a sanitizer.
using AllocationCount = std::uint64_t (*)();
extern const AllocationCount allocation_count;

}  // namespace koord::ctl
