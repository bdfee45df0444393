// SPDX-License-Identifier: Apache-2.0
// The file of a checkpoint, named "checkpoint", in a directory of its own. After a crash, the disk has either the old
// or the new file, complete. [any thread, one at a time]
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::predict {

inline constexpr const char* kCheckpointName = "checkpoint";

// Creates the directory if only the directory itself is missing. After an error the old file is unchanged.
Result<void> save_checkpoint(const std::string& directory, std::string_view text);

// Returns "" if no checkpoint exists.
Result<std::string> load_checkpoint(const std::string& directory);

}  // namespace koord::predict
