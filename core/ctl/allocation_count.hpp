// SPDX-License-Identifier: Apache-2.0
// Counts the memory allocations of this program, including plugins in it. [any thread]
#pragma once

#include <cstdint>

namespace koord::ctl {

// nullptr if the allocator cannot be replaced, as under a sanitizer.
using AllocationCount = std::uint64_t (*)();
extern const AllocationCount allocation_count;

}  // namespace koord::ctl
