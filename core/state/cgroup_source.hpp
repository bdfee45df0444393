// SPDX-License-Identifier: Apache-2.0
// CgroupSource: pods, containers and services from the cgroup tree alone, for a node without a cluster. A pod is known
// by its uid and Kubernetes QoS only (its name is the uid), a container by its id. A refresh lists directories and
// opens no file. One thread at a time; it publishes to the Hub in that thread.
#pragma once

#include <string>
#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/state/hub.hpp"

namespace koord::state {

class CgroupSource {
 public:
  struct Options {
    // Further cgroups to watch, relative to the hierarchy's root; each component may hold * and ?.
    std::vector<std::string> paths;
    // False when another source knows the pods better.
    bool pods = true;
    // The scheme of container ids if the directory name does not show the runtime (cgroupfs driver).
    std::string runtime;
  };

  CgroupSource(cgroup::Layout layout, Options options, Hub& hub);

  // Walks the tree and publishes pods and standalone containers; if none exist, the top-level cgroups. A directory that
  // vanishes meanwhile is skipped. Fails when no tree can be listed, publishing nothing.
  Result<void> refresh();

 private:
  cgroup::Layout layout_;
  Options options_;
  Hub& hub_;
};

// "containerd" or "cri-o" when that runtime's directory is in the run root; else empty.
std::string guess_runtime(const NodeRoots& roots);

}  // namespace koord::state
