// SPDX-License-Identifier: Apache-2.0
// Ensures that only one agent uses a metric cache, because two writers would damage the file.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::agentd {

// Locks "<path>.lock" until the descriptor is closed. Fails if another process holds the lock for 2 s. Returns an empty
// descriptor if the path is empty or the folder is not writable. In these cases the cache is only in memory and needs
// no lock.
Result<UniqueFd> lock_store(const std::string& path);

}  // namespace koord::agentd
