// SPDX-License-Identifier: Apache-2.0
// Pods of a node for tests of evictions: best-effort pods "pod-1", "pod-2", … in the namespace "shop".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/evict/holding.hpp"
#include "core/evict/request.hpp"
#include "core/state/snapshot.hpp"

namespace koord::test {

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Returns the uid of a pod. Numbers begin at 1; uids sort in the order of their numbers.
inline std::string uid_of(int number) { return "uid-" + std::to_string(1000 + number); }

inline state::Pod best_effort_pod(int number) {
  state::Pod pod;
  pod.handle = static_cast<std::uint64_t>(number);
  pod.uid = uid_of(number);
  pod.namespace_ = "shop";
  pod.name = "pod-" + std::to_string(number);
  pod.kube_qos = state::KubeQos::best_effort;
  pod.koord_qos = state::KoordQos::be;
  pod.phase = state::Phase::running;
  pod.resources = {{"kubernetes.io/batch-cpu", 1000, 1000}};
  return pod;
}

inline state::Snapshot node_with(int pods) {
  state::Snapshot snapshot;
  for (int number = 1; number <= pods; ++number) snapshot.pods.push_back(best_effort_pod(number));
  return snapshot;
}

// Returns a usage of 1 GiB and 1 core for each pod.
inline evict::UsageByPod use_of(const state::Snapshot& snapshot) {
  evict::UsageByPod usage;
  for (const state::Pod& pod : snapshot.pods) usage[pod.uid] = {1000, kGiB};
  return usage;
}

inline std::vector<std::uint64_t> handles(int first, int last) {
  std::vector<std::uint64_t> handles;
  for (int number = first; number <= last; ++number) handles.push_back(static_cast<std::uint64_t>(number));
  return handles;
}

inline evict::Request release_memory(std::int64_t amount, std::vector<std::uint64_t> pods) {
  return {std::move(pods), "memory", "the node is short of memory", amount, {{"feature", "BEMemoryEvict"}}};
}

}  // namespace koord::test
