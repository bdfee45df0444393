// SPDX-License-Identifier: Apache-2.0
// A pod as a candidate for eviction: its class and priority with Koordinator's defaults, its requests, and its own
// settings about eviction. Pure: reads only a pod of koord.state/1. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "koordetector/plugin.h"
#include "plugins/shared/eviction/opt_outs.hpp"

namespace koord::eviction {

enum class Resource : std::uint8_t { cpu, memory };
// Tiers of a resource. Koordinator offers unused amounts again, under the names of the tiers mid and batch.
enum class Tier : std::uint8_t { native, mid, batch };

// Returns the resource name: "cpu", "kubernetes.io/mid-cpu", "kubernetes.io/batch-memory", …
std::string_view name_of(Resource resource, Tier tier);

// Requests of a pod by tier, in milli-cores or bytes.
struct Requests {
  std::int64_t native = 0;  // request of the pod as the scheduler computes it
  std::int64_t mid = 0;     // sum over its regular and sidecar containers
  std::int64_t batch = 0;

  std::int64_t of(Tier tier) const;
};

struct Candidate {
  std::uint64_t handle = 0;
  std::string name;             // "namespace/name"
  bool is_active = false;       // Pending or Running; pods in other phases have nothing to release
  bool is_best_effort = false;  // whether its label says so; a pod without the label is not treated as best effort
  std::uint32_t priority_class = KOORD_PRIORITY_NONE;
  std::int32_t priority = 0;      // spec.priority, or if missing the default of its class
  std::int64_t sub_priority = 0;  // value of the label, or `priority`
  std::int32_t order = 0;         // value of the annotation
  bool is_enabled = false;        // whether features that use priorities may evict it
  Policy policy;
  Requests cpu, memory;
  std::optional<std::int64_t> used;  // usage of the scarce resource, milli-cores or bytes; nullopt: not measured

  const Requests& requests(Resource resource) const { return resource == Resource::cpu ? cpu : memory; }
};

// Returns the priority of a pod that has none of its own, by class: prod 9500, mid 7500, batch 5500, free 3500, none 0.
std::int32_t default_priority(std::uint32_t priority_class);

// Returns the tier in which a pod of this class requests CPU and memory.
Tier tier_of(std::uint32_t priority_class);

// Returns the pod's request in the tier of its class.
std::int64_t requested(const Candidate& pod, Resource resource);

// Reads a pod; does not set `used`.
Candidate candidate_of(const koord_pod& pod);

}  // namespace koord::eviction
