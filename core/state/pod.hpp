// SPDX-License-Identifier: Apache-2.0
// Pods and containers as the agent knows them, from any source. Plain values. Handles are given by the Hub (hub.hpp); a
// source leaves them 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/cgroup/names.hpp"

namespace koord::state {

using KubeQos = cgroup::KubeQos;
using StringMap = std::map<std::string, std::string, std::less<>>;

// `none`: the label koordinator.sh/qosClass is missing, and no default applies.
enum class KoordQos { none, lse, lsr, ls, be, system };
enum class PriorityClass { none, prod, mid, batch, free };
enum class Phase { unknown, pending, running, succeeded, failed };

// service: a systemd unit. cgroup: a directory without a known owner.
enum class ContainerKind { regular, init, sidecar, ephemeral, sandbox, service, cgroup };
enum class ContainerState { unknown, waiting, running, terminated };

std::string_view name_of(KubeQos qos);           // "Guaranteed", "" for unknown
std::string_view name_of(KoordQos qos);          // "LSR", "" for none
std::string_view name_of(PriorityClass klass);   // "koord-prod", "" for none
std::string_view name_of(Phase phase);           // "Running"
std::string_view name_of(ContainerKind kind);    // "regular"
std::string_view name_of(ContainerState state);  // "running"

inline constexpr std::int64_t kNoResource = -1;

// Milli-cores for cpu kinds ("cpu", "kubernetes.io/batch-cpu", …), bytes for memory kinds, else whole
// numbers.
struct Resource {
  std::string name;
  std::int64_t request = kNoResource;
  std::int64_t limit = kNoResource;

  bool operator==(const Resource&) const = default;
};

struct Container {
  std::uint64_t handle = 0;
  std::string id;  // with the runtime's scheme, "containerd://<64 hex>"; empty until the runtime gave one
  std::string name;
  ContainerKind kind = ContainerKind::regular;
  ContainerState state = ContainerState::unknown;
  std::string cgroup_dir;  // relative to the hierarchy's root; empty when unknown
  // Inode of the cgroup's directory where the id alone may come back (services, plain cgroups); else 0.
  std::uint64_t incarnation = 0;
  std::vector<Resource> resources;

  bool operator==(const Container&) const = default;
};

// A volume of a pod that a CSI driver provides. The kubelet names its directory after the claim's volume, or else after
// the pod's name for it.
struct PodVolume {
  std::string name;   // as the pod calls it
  std::string claim;  // in the pod's namespace; empty: it ends with the pod

  bool operator==(const PodVolume&) const = default;
};

struct Pod {
  std::uint64_t handle = 0;
  std::string uid;
  std::string namespace_;
  std::string name;
  KubeQos kube_qos = KubeQos::unknown;
  KoordQos koord_qos = KoordQos::none;
  std::int32_t priority = 0;
  PriorityClass priority_class = PriorityClass::none;
  Phase phase = Phase::unknown;
  bool deleting = false;  // someone has asked for its end
  StringMap labels;
  StringMap annotations;
  std::int64_t start_time_ns = 0;  // wall clock, since the Unix epoch; 0 unknown
  std::string owner_kind;
  std::string owner_name;
  std::string node;  // that it is bound to (spec.nodeName); empty when unknown
  std::string cgroup_dir;
  std::vector<Resource> resources;
  std::vector<Container> containers;
  std::vector<PodVolume> volumes;

  bool operator==(const Pod&) const = default;
};

// All its containers have ended for good, and none is started again.
inline bool has_ended(const Pod& pod) { return pod.phase == Phase::succeeded || pod.phase == Phase::failed; }

std::string full_name(const Pod& pod);  // "namespace/name"

}  // namespace koord::state
