// SPDX-License-Identifier: Apache-2.0
// NodeUsage: the input for batch resources, that is the status of a NodeMetric, as the agent or koordlet writes it, and
// the pods on the node. Parses text to values. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::manager {

// CPU in thousandths of a core, memory in bytes.
struct CpuMemory {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;

  bool operator==(const CpuMemory&) const = default;
};

// Limit for sums and products, for any reported values.
inline constexpr std::int64_t kMostAmount = std::int64_t{1} << 52;

struct PodUse {
  std::string_view name;  // "namespace/name"
  state::PriorityClass priority = state::PriorityClass::none;
  CpuMemory usage;

  bool operator==(const PodUse&) const = default;
};

// The usage of the pods in a report. All names are in one string to save memory, because a cluster may have hundreds of
// thousands of pods.
class PodUses {
 public:
  void add(std::string_view name, state::PriorityClass priority, const CpuMemory& usage);
  // Frees unused capacity.
  void fit();

  std::size_t size() const { return uses_.size(); }
  // The result is valid until the next change.
  PodUse operator[](std::size_t at) const;

  bool operator==(const PodUses&) const = default;

 private:
  struct Use {
    CpuMemory usage;
    std::uint32_t name_end = 0;
    state::PriorityClass priority = state::PriorityClass::none;

    bool operator==(const Use&) const = default;
  };

  std::string names_;
  std::vector<Use> uses_;
};

struct NodeUsage {
  std::string update_time;                    // as received; a different text means a new report
  std::optional<std::int64_t> update_ns;      // since the Unix epoch, on the node's clock; nullopt: missing or invalid
  Duration window = std::chrono::minutes(5);  // the values are averages over this window
  CpuMemory node, system;
  PodUses pods;
  PodUses applications;                       // host applications, which Kubernetes does not run
  std::optional<CpuMemory> prod_reclaimable;  // nullopt: not known

  bool operator==(const NodeUsage&) const = default;
};

// Parses a NodeMetric object (JSON). Without a status, update_time is empty. Fails if an amount is negative.
Result<NodeUsage> parse_node_usage(std::string_view object);

// The few facts that are kept of a pod, because a cluster may have hundreds of thousands of pods.
struct PodFacts {
  std::string name;     // "namespace/name"
  std::string node;     // empty: not bound
  bool counts = false;  // pending or running
  state::KoordQos qos = state::KoordQos::none;
  state::PriorityClass priority = state::PriorityClass::none;
  CpuMemory request;

  bool operator==(const PodFacts&) const = default;
};

// Parses a Pod object (JSON).
Result<PodFacts> parse_pod_facts(std::string_view object);

// Convert to a line without the name, and back. Only this program writes such lines.
std::string to_line(const PodFacts& pod);
Result<PodFacts> from_line(std::string name, std::string_view line);

// Returns whether the class has priority over batch: true for every class except batch and free.
bool goes_before_batch(state::PriorityClass priority);

}  // namespace koord::manager
