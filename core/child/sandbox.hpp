// SPDX-License-Identifier: Apache-2.0
// Confines a child before it maps its plugin's file: its own user, the capabilities that it was allowed and no others,
// limits that it cannot raise, Landlock, a filter of system calls. It is the first to go when memory is short, and
// leaves no core, so no core handler runs for it outside of its limits.
#pragma once

#include "core/base/linux_capability.hpp"
#include "core/base/result.hpp"
#include "core/child/launch_spec.hpp"

namespace koord::child {

// Confines this process, before it has threads. Fails when a step of the spec fails; capabilities that the process does
// not have are left out. Returns those that it keeps.
Result<CapabilityMask> enter_sandbox(const LaunchSpec& spec);

// Limits the size of each file that this process writes, memory files included. The kernel sends SIGXFSZ beyond it. For
// after the copy of the plugin's file is made, which may be longer.
Result<void> limit_files(const LaunchSpec& spec);

}  // namespace koord::child
