// SPDX-License-Identifier: Apache-2.0
// HookReach: whether a hook may give a container devices and mounts of the node. Either amounts to root on the node. A
// third party's hook needs the capability for which the kernel asks a program that does the same.
#pragma once

#include <linux/capability.h>

#include "core/base/linux_capability.hpp"

namespace koord::host {

struct HookReach {
  bool devices = true, mounts = true;
};

inline HookReach hook_reach(bool is_third_party, CapabilityMask granted) {
  const auto has = [&](unsigned capability) { return (granted >> capability & 1) != 0; };
  return {!is_third_party || has(CAP_MKNOD), !is_third_party || has(CAP_SYS_ADMIN)};
}

}  // namespace koord::host
