// SPDX-License-Identifier: Apache-2.0
// Usage of another process of ours, from the kernel. [any thread]
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::host {

struct ProcessUse {
  Duration cpu{};                  // of all its threads, also those that have ended
  std::uint64_t memory_bytes = 0;  // its own: not what it shares with others by mapping files
};

Result<ProcessUse> use_of_process(pid_t pid);

}  // namespace koord::host
