// SPDX-License-Identifier: Apache-2.0
// One agent a metric cache: two writers of one file would take each other's history apart.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::agentd {

// Holds "<path>.lock" until the descriptor is closed. Fails if another process holds it for 2 s. Returns an empty
// descriptor if no lock is needed: no path, or a folder that cannot be written, where the cache stays in memory anyhow.
Result<UniqueFd> lock_store(const std::string& path);

}  // namespace koord::agentd
