// SPDX-License-Identifier: Apache-2.0
// One agent a metric cache: two writers of one file would take each other's history apart.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::agentd {

// Holds "<path>.lock" for as long as the descriptor lives. An error when another process holds it; an empty descriptor
// when there is nothing to lock: no path, or a folder that cannot be written, where the cache stays in memory anyhow.
Result<UniqueFd> lock_store(const std::string& path);

}  // namespace koord::agentd
