// SPDX-License-Identifier: Apache-2.0
// Finds the directory in which the kubelet of this node keeps its pods, from its configuration and the directories that
// exist. These functions list directories and open no file. [any thread]
#pragma once

#include <optional>
#include <string_view>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/cgroup/names.hpp"

namespace koord::cgroup {

// Returns the root that a kubelet with this driver makes of its setting `cgroupRoot`: "", "/" or a path such as
// "/kubelet". systemd's slices repeat the names of those around them, and a "-" of a name becomes "_".
Result<KubeRoot> kube_root_below(Driver driver, std::string_view cgroup_root);

// The directory of a pod is there.
bool holds_pods(const Layout& layout, const KubeRoot& root);

// `reported`: the root that the kubelet reports. It is used unless only another directory has pods: a kubelet that asks
// the runtime for the driver goes on reporting the one of its configuration. If unknown, systemd's default.
KubeRoot choose_kube_root(const Layout& layout, const std::optional<KubeRoot>& reported = {});

}  // namespace koord::cgroup
