// SPDX-License-Identifier: Apache-2.0
// The file that a checkpoint lies in, "checkpoint" in a directory of its own. A crash leaves the old or the new one, on
// the disk as a whole. [any thread, one at a time]
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::predict {

inline constexpr const char* kCheckpointName = "checkpoint";

// Makes the directory when only the directory itself is missing. An error leaves the old file as it is.
Result<void> save_checkpoint(const std::string& directory, std::string_view text);

// Returns "" if no checkpoint exists yet.
Result<std::string> load_checkpoint(const std::string& directory);

}  // namespace koord::predict
