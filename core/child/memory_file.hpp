// SPDX-License-Identifier: Apache-2.0
// Memory that can go to another process by its descriptor. [any thread]
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::child {

// Memory with these bytes; sealed: neither bytes nor size can be changed any more.
Result<UniqueFd> memory_with(std::string_view bytes, bool sealed);
// Zeros, of a size that cannot be changed.
Result<UniqueFd> memory_of(std::size_t size);

}  // namespace koord::child
