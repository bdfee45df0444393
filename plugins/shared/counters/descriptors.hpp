// SPDX-License-Identifier: Apache-2.0
// The share of the process's descriptors that the counters of one plugin may use.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace koord::performance {

// Returns a quarter of the limit. The rest is for other plugins in the same process.
inline std::size_t quarter_of_descriptors() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return static_cast<std::size_t>(limit.rlim_cur / 4);
}

}  // namespace koord::performance
