// SPDX-License-Identifier: Apache-2.0
// Trial: does something first in a forked child, which ends with it and has none of the agent's descriptors but the
// standard ones. Faults that would end or block this process (abort, a bad pointer, a hang, an exception thrown through
// the C library) end or block the child, and are returned as an error. The child has one thread and copies of all
// locks, so its code may use memory and the dynamic loader, which have locks that the C library resets in fork(), and
// nothing else that others may have locked. [any thread]
#pragma once

#include <functional>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::load {

Result<void> try_in_child(const std::function<Result<void>()>& what, Duration patience);

}  // namespace koord::load
