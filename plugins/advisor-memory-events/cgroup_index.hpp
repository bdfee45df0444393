// SPDX-License-Identifier: Apache-2.0
// CgroupIndex: finds the pod or container of a cgroup in the kernel's log. The kernel's paths begin at the root of the
// whole hierarchy. If the agent's own root is deeper (a node in a container), pods are still found, by the end of the
// path. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace koord::memory_events {

// The deepest known owner of a path; 0: none.
struct Owner {
  std::uint64_t container = 0, pod = 0;
  bool below = false;  // the path is below the container's cgroup or, without a container, the pod's
};

class CgroupIndex {
 public:
  void clear() { owners_.clear(); }
  // `dir`: path in the agent's view; `pod` 0: outside of pods.
  void add_pod(std::string_view dir, std::uint64_t pod) { add(dir, {0, pod, false}); }
  void add_container(std::string_view dir, std::uint64_t container, std::uint64_t pod) {
    add(dir, {container, pod, false});
  }

  Owner find(std::string_view kernel_path) const;

 private:
  void add(std::string_view dir, Owner owner);
  Owner find_prefix(std::string_view path) const;

  std::unordered_map<std::string, Owner> owners_;
};

}  // namespace koord::memory_events
