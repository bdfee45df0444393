// SPDX-License-Identifier: Apache-2.0
// The filter of system calls of a child (seccomp). It denies calls that change the machine rather than look at it,
// calls on processes that are not its own, namespaces, and sockets that it was not granted. [any thread]
#pragma once

#include "core/base/linux_capability.hpp"
#include "core/base/network_families.hpp"
#include "core/base/result.hpp"

namespace koord::child {

// Filters the system calls of all threads of this process and of all processes that they start. The system calls of a
// kept capability are allowed. `attributes`: of files, may be changed; Landlock has no rule for them. Needs
// no_new_privs.
enum class FileAttributes { closed, open };
Result<void> filter_system_calls(CapabilityMask kept, NetworkMask network, FileAttributes attributes);

}  // namespace koord::child
