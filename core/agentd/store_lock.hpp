// SPDX-License-Identifier: Apache-2.0
// Ensures that only one agent uses a metric cache: two writers would damage the file.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::agentd {

// Locks "<path>.lock" until the descriptor is closed. Fails if another process holds the lock for 2 s. Returns an empty
// descriptor if no lock is needed: without a path, or if the folder is not writable, because the cache is only in
// memory then.
Result<UniqueFd> lock_store(const std::string& path);

}  // namespace koord::agentd
