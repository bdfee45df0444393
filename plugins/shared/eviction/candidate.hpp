// SPDX-License-Identifier: Apache-2.0
// A pod as strategies see it that evict: its class and priority with Koordinator's defaults, what it asks for, and what
// it says about its own eviction. Pure: of a pod of koord.state/1, nothing else is asked. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "koordetector/plugin.h"
#include "plugins/shared/eviction/opt_outs.hpp"

namespace koord::eviction {

enum class Resource : std::uint8_t { cpu, memory };
// Koordinator sells what others leave a second time, under names of its own.
enum class Tier : std::uint8_t { native, mid, batch };

// "cpu", "kubernetes.io/mid-cpu", "kubernetes.io/batch-memory", …
std::string_view name_of(Resource resource, Tier tier);

// Milli-cores or bytes.
struct Requests {
  std::int64_t native = 0;  // of the pod as the scheduler reckons it
  std::int64_t mid = 0;     // of its containers and sidecars
  std::int64_t batch = 0;

  std::int64_t of(Tier tier) const;
};

struct Candidate {
  std::uint64_t handle = 0;
  std::string name;             // "namespace/name"
  bool is_active = false;       // Pending or Running: others have nothing left to release
  bool is_best_effort = false;  // by its label; a pod without one has not asked to be treated so
  std::uint32_t priority_class = KOORD_PRIORITY_NONE;
  std::int32_t priority = 0;      // spec.priority, or if missing that of its class
  std::int64_t sub_priority = 0;  // of the label, or `priority`
  std::int32_t order = 0;         // of the annotation
  bool is_enabled = false;        // for features that go by priority
  Policy policy;
  Requests cpu, memory;
  std::optional<std::int64_t> used;  // of what is short, milli-cores or bytes; nothing: not measured

  const Requests& requests(Resource resource) const { return resource == Resource::cpu ? cpu : memory; }
};

// A class's priority where a pod has none of its own: prod 9500, mid 7500, batch 5500, free 3500, none 0.
std::int32_t default_priority(std::uint32_t priority_class);

// Returns the tier in which a pod of this class requests CPU and memory.
Tier tier_of(std::uint32_t priority_class);

// The pod's request, in the tier of its class.
std::int64_t requested(const Candidate& pod, Resource resource);

// `used` is not set.
Candidate candidate_of(const koord_pod& pod);

}  // namespace koord::eviction
