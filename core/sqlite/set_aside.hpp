// SPDX-License-Identifier: Apache-2.0
// Moving a file out of the way that cannot be used, so that a new one can begin and a human can look at the old.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"

namespace koord::sqlite {

// Renames `path`, with its write-ahead log, to "<path>.<reason>-<UTC time>" and returns the new name. Only the two
// newest of such files are kept: a disk that keeps damaging files must not be filled with them.
Result<std::string> set_aside(const std::string& path, const std::string& reason, std::int64_t wall_ns);

}  // namespace koord::sqlite
