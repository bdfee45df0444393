// SPDX-License-Identifier: Apache-2.0
// The size of a plugin's state directory on disk. The plugin may change the directory meanwhile, and does all it can to
// hide files in it. [any thread]
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"

namespace koord::child {

// Returns the bytes that the directory and everything below it take. An entry counts as 4 KiB at least, so that empty
// files and names of one file (hard links) have a limit, too. Stops and returns more than `enough` once there is more.
// Reads as `uid` what the agent may not read. Fails if a directory cannot be read or lies too deep; a missing directory
// has 0 bytes.
Result<std::uint64_t> state_size(const std::string& directory, std::uint32_t uid, std::uint64_t enough);

}  // namespace koord::child
