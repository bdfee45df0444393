// SPDX-License-Identifier: Apache-2.0
// Computes the usage of the node outside its pods and host applications, from other advisors' measurements. Pure:
// values in, values out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plugins/shared/sdk/newest.hpp"

namespace koord::sys_resource {

// The newest sample of a pod (by its handle) or application, within the maximum age.
using Sample = usage::Newest;

// The pods of the node. A running pod gets a sample soon, or it has no cgroup and no usage.
class PodRoll {
 public:
  // While a running pod has no sample yet, the sum is unknown, but only for `grace_ns` after the pod was first seen.
  explicit PodRoll(std::uint64_t grace_ns) : grace_ns_(grace_ns) {}

  struct Pod {
    std::uint64_t handle = 0;
    bool runs = true;  // false: a sample (of its init containers) is optional
  };
  void follow(const std::vector<Pod>& pods, std::uint64_t now_ns);

  // Returns the sum over the pods. Returns nullopt while a running pod waits for its first sample. Returns nullopt,
  // too, if pods run but none has a sample, because in that case pods are not measured. Samples of other subjects are
  // ignored.
  std::optional<double> sum(const std::vector<Sample>& samples, std::uint64_t now_ns) const;

 private:
  struct Entry {
    bool runs;
    std::uint64_t since_ns;
  };
  std::uint64_t grace_ns_;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

// The host applications. Without measurements or applications their usage is 0.
class ApplicationRoll {
 public:
  // As with pods, an existing application without a sample makes the sum unknown for `grace_ns`.
  explicit ApplicationRoll(std::uint64_t grace_ns) : grace_ns_(grace_ns) {}

  void follow(std::size_t running, std::uint64_t now_ns);
  std::optional<double> sum(const std::vector<Sample>& samples, std::uint64_t now_ns) const;

 private:
  std::uint64_t grace_ns_;
  std::size_t running_ = 0;
  std::uint64_t since_ns_ = 0;
};

// Returns whole - pods - applications, but at least 0, because they are not measured at the same moment. nullopt if one
// of them is unknown.
std::optional<double> rest(std::optional<double> whole, std::optional<double> pods, std::optional<double> applications);

// Returns the system's CPU usage by NUMA node. The kernel does not attribute a CPU's time to the system, so each node
// gets its share of all used CPU. Empty if a node's usage is unknown.
std::map<std::uint32_t, double> numa_parts(double system_cores,
                                           const std::map<std::uint32_t, std::optional<double>>& used_cores);

}  // namespace koord::sys_resource
