// SPDX-License-Identifier: Apache-2.0
// Computes memory protection, throttling and rank for each pod by its class and annotation, on every level of the
// cgroup tree. Pure: values in, proposals out; no host, no clock, no files. Formulas: Koordinator's memory QoS
// (resourceQOSStrategy.memoryQOS).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/shared/slo/pod_slo.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::cgroup_reconcile {

struct ContainerInput {
  std::string cgroup_dir;
  std::int64_t request = 0;           // bytes; batch-memory for best-effort pods
  std::optional<std::int64_t> limit;  // same resource; nullopt: no limit
};

struct PodInput {
  std::string name;  // "namespace/name"
  std::string cgroup_dir;
  std::uint32_t qos = 0, kube_qos = 0;  // KOORD_QOS_*, KOORD_KUBE_QOS_*
  std::int64_t request = 0;
  std::optional<std::int64_t> limit;       // limit of the pod's cgroup; nullopt if a container has no limit
  std::optional<std::string> annotation;   // koordinator.sh/memoryQOS
  std::vector<ContainerInput> containers;  // containers that have a cgroup and run as long as the pod
  bool has_spec = true;                    // false: known only by its cgroup, so requests and limits are unknown
};

struct Inputs {
  std::vector<PodInput> pods;               // pods that have not ended
  std::optional<std::int64_t> allocatable;  // the node's memory for pods, bytes
  std::int64_t page_size = 4096;
  std::set<std::string, std::less<>> missing_knobs;  // knobs that this node lacks; no intents are planned for them
  std::size_t most_intents = 10'000;                 // maximum number of intents, `highs` included
};

// The final memory.high of a container. HighGuard decides the way to it.
struct HighTarget {
  std::string cgroup_dir;
  std::int64_t target = 0;            // bytes
  std::optional<std::int64_t> limit;  // limit of the container
  std::string reason;
  strategy::Inputs inputs;
};

struct Plan {
  strategy::Intents intents;
  std::vector<HighTarget> highs;
  slo::Problems problems;    // problems of annotations, with the pod's name
  std::size_t left_out = 0;  // intents beyond `most_intents`; also reported in `problems`
};

// Plans all intents. The order of cgroups is: the classes, SYSTEM, LSE and LSR pods, LS pods and pods without a class,
// BE pods; each pod before its containers. If there are more than `most_intents` intents, the last ones are left out.
// Values that equal the kernel's default (protection 0, priority 0, …) are not proposed, unless the pod's annotation
// sets them. The host reverts knobs that are not proposed any more.
Plan plan(const slo::ResourceQos& strategy, const Inputs& inputs);

// Returns ⌊amount · percent / 100⌋.
std::int64_t share_of(std::int64_t amount, std::int64_t percent);

// Returns ⌊(request + ⌊(limit − request) · percent / 100⌋) / page⌋ · page, or nullopt for 0 %: no throttling. Source:
// Koordinator, after Kubernetes' KEP-2570. A limit below the request counts as the request.
std::optional<std::int64_t> memory_high(std::int64_t request, std::int64_t limit, std::int64_t percent,
                                        std::int64_t page_size);

// Limits of a pod's page cache. nullopt: unset.
struct PageCache {
  std::optional<bool> enable, sync;
  std::optional<std::int64_t> size;  // bytes

  bool operator==(const PageCache&) const = default;
};
PageCache page_cache_of(const slo::MemoryQos& values, std::optional<std::int64_t> limit);

}  // namespace koord::cgroup_reconcile
