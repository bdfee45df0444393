// SPDX-License-Identifier: Apache-2.0
// NodeUsage: the input of batch resources: a NodeMetric's status, as the agent or koordlet writes it, and the pods that
// the scheduler has put on the node. Text in, values out. [any thread]
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

// Sums and products stay within these, whatever is reported.
inline constexpr std::int64_t kMostAmount = std::int64_t{1} << 52;

struct PodUse {
  std::string_view name;  // "namespace/name"
  state::PriorityClass priority = state::PriorityClass::none;
  CpuMemory usage;

  bool operator==(const PodUse&) const = default;
};

// The uses of a report, with all names in one text: a cluster may have hundreds of thousands.
class PodUses {
 public:
  void add(std::string_view name, state::PriorityClass priority, const CpuMemory& usage);
  // Frees what was reserved for more.
  void fit();

  std::size_t size() const { return uses_.size(); }
  // Valid until the next change.
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
  std::string update_time;                    // as it came; another text is another report
  std::optional<std::int64_t> update_ns;      // since the Unix epoch, on the node's clock; nullopt: none, or unreadable
  Duration window = std::chrono::minutes(5);  // that the values are averages of
  CpuMemory node, system;
  PodUses pods;
  PodUses applications;                       // outside of Kubernetes
  std::optional<CpuMemory> prod_reclaimable;  // nullopt: not known

  bool operator==(const NodeUsage&) const = default;
};

// A NodeMetric object as JSON. Without a status: an empty update_time. Fails if an amount is below zero.
Result<NodeUsage> parse_node_usage(std::string_view object);

// A pod on a node, in the few words that are kept of it; there may be hundreds of thousands.
struct PodFacts {
  std::string name;     // "namespace/name"
  std::string node;     // empty: not bound yet
  bool counts = false;  // pending or running
  state::KoordQos qos = state::KoordQos::none;
  state::PriorityClass priority = state::PriorityClass::none;
  CpuMemory request;

  bool operator==(const PodFacts&) const = default;
};

// From a Pod object as JSON.
Result<PodFacts> parse_pod_facts(std::string_view object);

// One line without the name, and back; the line is our own.
std::string to_line(const PodFacts& pod);
Result<PodFacts> from_line(std::string name, std::string_view line);

// Batch and free pods take what others leave; all others go before them.
bool goes_before_batch(state::PriorityClass priority);

}  // namespace koord::manager
