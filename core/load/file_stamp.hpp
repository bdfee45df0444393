// SPDX-License-Identifier: Apache-2.0
// FileStamp: identifies the file at a path, and shows whether it was written since. [any thread]
#pragma once

#include <string>

#include "core/base/file_version.hpp"
#include "core/base/result.hpp"

namespace koord::load {

Result<FileVersion> stamp_of(const std::string& path);

// To be called once the file is mapped.
Result<void> check_unchanged(const std::string& path, const FileVersion& before);

}  // namespace koord::load
