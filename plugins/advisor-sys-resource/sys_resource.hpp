// SPDX-License-Identifier: Apache-2.0
// Usage of the node outside its pods and host applications, from other advisors' measurements. Pure: values in, values
// out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plugins/shared/sdk/newest.hpp"

namespace koord::sys_resource {

// The newest sample of one pod (by its handle) or application, not older than the bound.
using Sample = usage::Newest;

// The pods of the node. A pod that runs has a sample soon, or has no cgroup and uses nothing.
class PodRoll {
 public:
  // A pod that runs and has no sample yet makes the sum unknown for `grace_ns` from when it was first seen.
  explicit PodRoll(std::uint64_t grace_ns) : grace_ns_(grace_ns) {}

  struct Pod {
    std::uint64_t handle = 0;
    bool runs = true;  // false: a sample (of its init containers) is optional
  };
  void follow(const std::vector<Pod>& pods, std::uint64_t now_ns);

  // Returns the sum of the pods on the roll. Nothing while a running pod waits for its first sample, and nothing if
  // pods run without any sample: then they are not measured. Samples of other subjects do not count.
  std::optional<double> sum(const std::vector<Sample>& samples, std::uint64_t now_ns) const;

 private:
  struct Entry {
    bool runs;
    std::uint64_t since_ns;
  };
  std::uint64_t grace_ns_;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

// The host applications. Without measurements, or without applications, they use nothing.
class ApplicationRoll {
 public:
  // As with pods, an application that is there and has no sample makes the sum unknown for `grace_ns`.
  explicit ApplicationRoll(std::uint64_t grace_ns) : grace_ns_(grace_ns) {}

  void follow(std::size_t running, std::uint64_t now_ns);
  std::optional<double> sum(const std::vector<Sample>& samples, std::uint64_t now_ns) const;

 private:
  std::uint64_t grace_ns_;
  std::size_t running_ = 0;
  std::uint64_t since_ns_ = 0;
};

// whole - pods - applications, at least 0: the three are not measured at the same moment. Nothing when one is
// not known.
std::optional<double> rest(std::optional<double> whole, std::optional<double> pods, std::optional<double> applications);

// The system's CPU by NUMA node: the kernel does not attribute a CPU's time, so each node has the part that it has in
// all CPU used. Nothing if a node's use is unknown.
std::map<std::uint32_t, double> numa_parts(double system_cores,
                                           const std::map<std::uint32_t, std::optional<double>>& used_cores);

}  // namespace koord::sys_resource
