// SPDX-License-Identifier: Apache-2.0
// Where the node's trees are: the machine's own, those of the host as a DaemonSet pod sees them, or a fake
// node made by a test. No other place in the agent knows such a path.
#pragma once

#include <string>

namespace koord {

struct NodeRoots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string cgroup = "/sys/fs/cgroup";
  std::string resctrl = "/sys/fs/resctrl";
  std::string run = "/run";
  std::string kubelet = "/var/lib/kubelet";
};

}  // namespace koord
