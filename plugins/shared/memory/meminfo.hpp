// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/meminfo and of /sys/bus/node/devices/nodeN/meminfo. [any thread]
#pragma once

#include <string_view>

#include "core/base/result.hpp"

namespace koord::memory {

// The value of the line "<key>: 123 kB", or "Node 0 <key>: 123 kB", in bytes. An error names the key.
Result<double> meminfo_bytes(std::string_view text, std::string_view key);

// MemTotal - MemFree of /proc/meminfo, in bytes: all that is in use, page cache and slab among it.
Result<double> used_with_page_cache_bytes(std::string_view text);

}  // namespace koord::memory
