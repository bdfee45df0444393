// SPDX-License-Identifier: Apache-2.0
// The host applications that a NodeSLO names: latency-sensitive or best-effort programs outside Kubernetes,
// each in a cgroup of its own. Pure: text in, values out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/names.hpp"

namespace koord::host_application {

struct Application {
  std::string name;
  std::string priority_class, qos;  // "koord-prod", "LS" as the NodeSLO has them; empty: unset
  // Where its cgroup may be, relative to the hierarchy's root: one for each kubelet's directory that the path
  // counts from, else one.
  std::vector<std::string> cgroup_dirs;

  bool operator==(const Application&) const = default;
};

struct Applications {
  std::vector<Application> applications;
  std::vector<std::string> refused;  // why an entry is none, naming it
};

// `spec` is the NodeSLO's spec as JSON; one without hostApplications, or an empty text, has none. The directory,
// relative to `base`, is parentDir/relativePath if cgroupPath is given; else host-latency-sensitive/<name> for LSE, LSR
// and LS, host-best-effort/<name> for BE, <name> for all others. If several entries have the same name, the first
// counts.
Result<Applications> parse_host_applications(std::string_view spec, const std::vector<cgroup::KubeRoot>& kube_roots);

}  // namespace koord::host_application
