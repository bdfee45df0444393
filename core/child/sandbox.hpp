// SPDX-License-Identifier: Apache-2.0
// What a child gives up before it maps its plugin's file: privileges for good, all capabilities but those it was allowed,
// and the system calls that change the machine rather than look at it (mounting, kernel modules, tracing, clocks,
// namespaces, keys) or that only those with a capability need (BPF, perf events). And it is the first to go when memory
// is short.
#pragma once

#include "core/base/linux_capability.hpp"
#include "core/base/result.hpp"

namespace koord::child {

// Of this process, before it has threads. A step that needs privileges the process does not have is left out: it has
// nothing to give up then; nor can it keep what it does not have. Returns the capabilities that it keeps.
Result<CapabilityMask> enter_sandbox(CapabilityMask allowed);

}  // namespace koord::child
