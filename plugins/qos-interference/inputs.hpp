// SPDX-License-Identifier: Apache-2.0
// Builds the ladder's inputs from records of koord.state/1 and koord.verdict/1. Pure. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-interference/ladder.hpp"

namespace koord::mitigation {

// The feature name for a pod's annotation koordinator.sh/eviction-policy. If a pod has the annotation, it must list
// this name.
inline constexpr const char* kFeature = "InterferenceMitigation";

// Returns the rank by the QoS class, or else by the priority class. A pod without either is prod.
Rank rank_of(const koord_pod& pod);

// Returns the running pods that have a cgroup, without their usage.
std::vector<Pod> pods_of(plugin::Strided<koord_pod> pods);

// Maps the handle of each pod and container to the handle of its pod.
using PodOfSubject = std::map<std::uint64_t, std::uint64_t>;
PodOfSubject pods_of_subjects(plugin::Strided<koord_pod> pods);

// Third-party plugins that are trusted: their verdicts count.
using Trusted = std::set<std::string, std::less<>>;

// Returns the verdicts that count. In these verdicts a pod is slowed down by others, the method is exact or estimated,
// and the source is one of the node's own plugins or a trusted source. Suspects in the same pod are added up; suspects
// outside of pods are left out.
std::vector<Verdict> verdicts_of(plugin::Strided<koord_verdict> verdicts, const PodOfSubject& pods,
                                 const Trusted& trusted);

}  // namespace koord::mitigation
