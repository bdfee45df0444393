// SPDX-License-Identifier: Apache-2.0
// A copy of a plugin's file in memory that cannot be changed any more, which is mapped in place of the file: the bytes
// that were checked are the bytes that run, and the plugin's user needs no right to read the file. [any thread]
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::child {

// `name` is shown in /proc/PID/maps.
Result<UniqueFd> sealed_copy(int file, const std::string& name);

}  // namespace koord::child
