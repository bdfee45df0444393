// SPDX-License-Identifier: Apache-2.0
// Reads a file that others write: a half-written one may look complete. [any thread]
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.hpp"

namespace koord::state {

// Returns the content of a regular file that no process has open for writing. Fails while one has, and if the file
// changes while it is read. A process that opens the file for writing meanwhile waits for the end of the read. Where
// the kernel or the file system does not report writers (a file of another user, NFS), only a change of its size or
// times is noticed.
Result<std::string> read_whole_file(const std::string& path, std::size_t max_bytes);

}  // namespace koord::state
