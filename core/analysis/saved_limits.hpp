// SPDX-License-Identifier: Apache-2.0
// The largest sizes of the values of workloads that advisor-interference saves as text. A plugin's keys and values have
// at most 1 MiB: four texts of kMaxSavedBytes, and for each the lines that could not be read, fit into this.
#pragma once

#include <cstddef>

namespace koord::analysis {

inline constexpr std::size_t kMaxSavedBytes = 192u << 10;
inline constexpr std::size_t kMaxUnreadBytes = 32u << 10;

}  // namespace koord::analysis
