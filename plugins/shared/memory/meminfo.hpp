// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/meminfo and of /sys/bus/node/devices/nodeN/meminfo. [any thread]
#pragma once

#include <string_view>

#include "core/base/result.hpp"

namespace koord::memory {

// Returns the value of the line "<key>: 123 kB" or "Node 0 <key>: 123 kB" in bytes. An error names the key.
Result<double> meminfo_bytes(std::string_view text, std::string_view key);

// Returns MemTotal - MemFree of /proc/meminfo in bytes: all used memory, including page cache and slab.
Result<double> used_with_page_cache_bytes(std::string_view text);

}  // namespace koord::memory
