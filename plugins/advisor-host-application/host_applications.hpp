// SPDX-License-Identifier: Apache-2.0
// Parses the host applications of a NodeSLO: latency-sensitive or best-effort programs outside Kubernetes, each in its
// own cgroup. Pure: text in, values out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/names.hpp"

namespace koord::host_application {

struct Application {
  std::string name;
  std::string priority_class, qos;  // the texts of the NodeSLO: "koord-prod", "LS"; empty: unset
  // Possible places of its cgroup, relative to the hierarchy's root. If the configured path is relative to the
  // kubelet's directory, there is one place for each possible directory, otherwise only one place.
  std::vector<std::string> cgroup_dirs;

  bool operator==(const Application&) const = default;
};

struct Applications {
  std::vector<Application> applications;
  std::vector<std::string> refused;  // reasons with the names of refused entries
};

// `spec` is the NodeSLO's spec as JSON. An empty text and a spec without hostApplications have no applications. The
// directory, relative to `base`, is parentDir/relativePath if cgroupPath is set. Otherwise it is
// host-latency-sensitive/<name> for LSE, LSR and LS, host-best-effort/<name> for BE, <name> for all others. If several
// entries have the same name, the first counts.
Result<Applications> parse_host_applications(std::string_view spec, const std::vector<cgroup::KubeRoot>& kube_roots);

}  // namespace koord::host_application
