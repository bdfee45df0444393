// SPDX-License-Identifier: Apache-2.0
// Opening a file below one of the node's roots, and never above it: neither "..", an absolute path nor a
// symbolic link leads out. [any thread]
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::service {

enum class Links : std::uint8_t { followed, refused };

// For reading. A path that leads out of the root, or over a refused link, is an invalid_argument.
Result<UniqueFd> open_below(const std::string& root, const std::string& relative, Links links = Links::followed);

// The same where the kernel has no openat2 (before 5.6, or a seccomp filter refuses it): resolves the path first, which
// a file that is replaced in between can mislead.
Result<UniqueFd> open_below_by_path(const std::string& root, const std::string& relative,
                                    Links links = Links::followed);

}  // namespace koord::service
