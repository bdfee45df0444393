// SPDX-License-Identifier: Apache-2.0
// Annotations and labels that are read from the Node and its pods, or written to reported objects. All but the first
// are Koordinator's.
#pragma once

#include <string_view>

#include "core/state/cpu_owners.hpp"

namespace koord::report {

// On a NodeMetric or NodeResourceTopology: lists parts that are missing or differ from the request, and why, as
// sentences separated by "; ". Without the annotation nothing is missing.
inline constexpr std::string_view kDegradedAnnotation = "koordetector.sh/degraded";

// On the Node, and on its NodeResourceTopology together with the derived CPUs.
using state::kReservationAnnotation;
using state::kSystemQosAnnotation;
inline constexpr std::string_view kNumaReservationLabel = "node.koordinator.sh/enable-numa-reservation";
// On a pod, written by the scheduler.
using state::kResourceStatusAnnotation;
// On the NodeResourceTopology.
inline constexpr std::string_view kCpuBasicInfoAnnotation = "node.koordinator.sh/cpu-basic-info";
inline constexpr std::string_view kCpuTopologyAnnotation = "node.koordinator.sh/cpu-topology";
inline constexpr std::string_view kSharedPoolsAnnotation = "node.koordinator.sh/cpu-shared-pools";
inline constexpr std::string_view kBestEffortPoolsAnnotation = "node.koordinator.sh/be-cpu-shared-pools";
inline constexpr std::string_view kPodCpusAnnotation = "node.koordinator.sh/pod-cpu-allocs";
inline constexpr std::string_view kCpuManagerAnnotation = "kubelet.koordinator.sh/cpu-manager-policy";

}  // namespace koord::report
