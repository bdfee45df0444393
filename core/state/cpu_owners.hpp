// SPDX-License-Identifier: Apache-2.0
// CpuOwners: the CPUs that not everybody may use: those that the Node's annotations reserve, and those that the
// scheduler gave to pods. The one reader of these annotations, for what is reported and for strategies. Pure. [any
// thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/state/pod.hpp"
#include "core/state/topology.hpp"

namespace koord::state {

struct Node;
struct Snapshot;

inline constexpr std::string_view kReservationAnnotation = "node.koordinator.sh/reservation";               // of a Node
inline constexpr std::string_view kSystemQosAnnotation = "node.koordinator.sh/system-qos-resource";         // of a Node
inline constexpr std::string_view kResourceStatusAnnotation = "scheduling.koordinator.sh/resource-status";  // of a pod

struct CpuOwners {
  CpuSet reserved;                                 // by the node's reservation: named there, or as many as its amount
  std::optional<std::int64_t> reserved_cpu_milli;  // the number of those named, else the amount
  std::optional<std::int64_t> reserved_memory_bytes;
  CpuSet system;                     // of pods of the class SYSTEM
  bool system_exclusive = true;      // no other pod may run there
  bool reservation_is_whole = true;  // all of the annotation could be read
  CpuSet lse, lsr, pinned;           // given by the scheduler to pods of the class LSE, of LSR, of any other
  // Values that could not be read, a sentence each; the rest is used.
  std::vector<std::string> node_problems, pod_problems;

  bool operator==(const CpuOwners&) const = default;
};

CpuOwners find_cpu_owners(const Node& node, const std::vector<Pod>& pods, const Topology& topology);

// The CPUs that the scheduler gave a pod; none for a text that names none, since any user may have written it.
CpuSet scheduled_cpus(const Pod& pod);

// The kubelet pins guaranteed containers that ask for whole CPUs.
bool has_static_cpus(const Snapshot& snapshot);
// CPUs that no other container uses, from the scheduler or by the kubelet's static policy.
bool has_own_cpus(const Snapshot& snapshot, const Pod& pod, const Container& container);
// A container of the pod has some.
bool has_own_cpus(const Snapshot& snapshot, const Pod& pod);

// `count` CPUs as the kubelet would pick them for itself: whole sockets, then whole cores, by number.
CpuSet pick_cpus(const Topology& topology, std::size_t count);

// The CPUs that are online.
CpuSet online_cpus(const Topology& topology);

// This many whole CPUs hold this amount.
std::size_t whole_cpus(std::int64_t milli);

}  // namespace koord::state
