// SPDX-License-Identifier: Apache-2.0
// The ladder's inputs from records of koord.state/1 and koord.verdict/1. Pure. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-interference/ladder.hpp"

namespace koord::mitigation {

// The feature that a pod's annotation koordinator.sh/eviction-policy has to list.
inline constexpr const char* kFeature = "InterferenceMitigation";

// By the QoS class, else by the priority class. A pod without either is prod.
Rank rank_of(const koord_pod& pod);

// Without usage. Pods that do not run, and those without a cgroup, are left out.
std::vector<Pod> pods_of(plugin::Strided<koord_pod> pods);

// The pod of each pod's and container's handle.
using PodOfSubject = std::map<std::uint64_t, std::uint64_t>;
PodOfSubject pods_of_subjects(plugin::Strided<koord_pod> pods);

// Plugins of third parties with verdicts that count.
using Trusted = std::set<std::string, std::less<>>;

// Those that count: others hold a pod up, exact or estimated, by one of the node's own plugins or a trusted one.
// Suspects of one pod are added up; those outside of pods are left out.
std::vector<Verdict> verdicts_of(plugin::Strided<koord_verdict> verdicts, const PodOfSubject& pods,
                                 const Trusted& trusted);

}  // namespace koord::mitigation
