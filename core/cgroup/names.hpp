// SPDX-License-Identifier: Apache-2.0
// The names under which kubelet and container runtimes make cgroup directories, both ways: from a pod or
// container to its directory and back. Pure functions. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

enum class Driver { systemd, cgroupfs };

enum class KubeQos { unknown, guaranteed, burstable, best_effort };

// The directory under which the kubelet keeps all pods: "kubepods.slice", "kubepods", or below another one
// as kind has it: "kubelet.slice/kubelet-kubepods.slice", "kubelet/kubepods".
struct KubeRoot {
  Driver driver = Driver::systemd;
  std::string dir = "kubepods.slice";

  bool operator==(const KubeRoot&) const = default;
};

KubeRoot default_kube_root(Driver driver);

// The kubepods directories of the node, at the top and one level below it. The ones that hold pods come
// first: an empty one may be the left-over of an earlier kubelet with the other driver. Lists directories
// only.
std::vector<KubeRoot> find_kube_roots(const Layout& layout);

// Directories relative to the hierarchy's root.
std::string qos_dir(const KubeRoot& root, KubeQos qos);  // the root itself for guaranteed and unknown
std::string pod_dir(const KubeRoot& root, KubeQos qos, std::string_view uid);
// `id` with its scheme: "containerd://<hex>". An unknown scheme is an error.
Result<std::string> container_dir(Driver driver, std::string_view pod_dir, std::string_view id);

// The QoS directory with this last name component below `root`; nullopt for any other name.
std::optional<KubeQos> parse_qos_dir(const KubeRoot& root, std::string_view name);

// The uid in the name of a pod directory that lies in the given QoS directory, dashes restored.
std::optional<std::string> parse_pod_dir(const KubeRoot& root, KubeQos qos, std::string_view name);

// A container found by the name of its directory. `scheme` is empty if the name does not show the runtime.
struct ContainerName {
  std::string scheme;   // "docker", "containerd", "cri-o", "pouch", "libpod"
  std::string id;       // without scheme
  bool helper = false;  // not a container but what the runtime keeps beside one: conmon, cri-o's bare sandbox

  std::string full_id() const { return scheme.empty() ? id : scheme + "://" + id; }
  bool operator==(const ContainerName&) const = default;
};

// A name with a runtime's prefix: "cri-containerd-<id>.scope" and its likes, bare "crio-<id>" and
// "libpod-<id>".
std::optional<ContainerName> parse_scope(std::string_view name);

// A container directory inside a pod: a runtime's scope, or with cgroupfs the bare id.
std::optional<ContainerName> parse_container_dir(Driver driver, std::string_view name);

// 64 lower-case hex digits, as every runtime makes ids.
bool is_container_hash(std::string_view text);

// A directory relative to a hierarchy's root: no leading or double slash, no "." or "..", no NUL. "" is the
// root.
bool is_cgroup(std::string_view text);

}  // namespace koord::cgroup
