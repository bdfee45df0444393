// SPDX-License-Identifier: Apache-2.0
// What Koordinator's annotations of a node and its pods say about whose CPUs are whose, and its NodeSLO about applications
// outside of Kubernetes. JSON texts that others write: what is no such text is an error that says why. Pure. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"

namespace koord::usage {

inline constexpr std::string_view kReservationAnnotation = "node.koordinator.sh/reservation";
inline constexpr std::string_view kSystemQosAnnotation = "node.koordinator.sh/system-qos-resource";
inline constexpr std::string_view kResourceStatusAnnotation = "scheduling.koordinator.sh/resource-status";

// Of the node, for what is not Kubernetes'.
struct Reservation {
  CpuSet cpus;                            // named one by one
  std::optional<std::int64_t> cpu_milli;  // their number where they are named, else resources.cpu
  std::optional<std::int64_t> memory_bytes;

  bool operator==(const Reservation&) const = default;
};
Result<Reservation> parse_reservation(std::string_view annotation);

// The CPUs of pods of the class SYSTEM.
struct SystemCpus {
  CpuSet cpus;
  bool exclusive = true;  // nobody else may run there

  bool operator==(const SystemCpus&) const = default;
};
Result<SystemCpus> parse_system_cpus(std::string_view annotation);

// The CPUs that the scheduler gave a pod; empty: none in particular.
Result<CpuSet> parse_pod_cpus(std::string_view annotation);

// The names of the applications of a NodeSLO's spec that are best-effort: of the class BE, with a cgroup that counts from the
// best-effort pods'. Those without it run where nothing that is done to best-effort pods reaches them.
Result<std::set<std::string>> parse_best_effort_applications(std::string_view node_slo);

}  // namespace koord::usage
