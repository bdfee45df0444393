// SPDX-License-Identifier: Apache-2.0
// Files without a name: open files that were removed, or made with O_TMPFILE. They take space on the disk, and no
// directory shows them. [any thread]
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace koord::child {

// Returns the bytes on disk of the files without a name on this device that these processes have descriptors of. Each
// file counts once. Stops and returns more than `enough` once there is more. A process whose descriptors this one may
// not see (CAP_SYS_PTRACE) has none.
std::uint64_t unnamed_size(const std::vector<std::int32_t>& pids, dev_t device, std::uint64_t enough);

// Returns all processes of this user. It reads a file for each process of the node.
std::vector<std::int32_t> processes_of_user(std::uint32_t uid);

}  // namespace koord::child
