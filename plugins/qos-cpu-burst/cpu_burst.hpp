// SPDX-License-Identifier: Apache-2.0
// CpuBurst: which containers may burst, and how far. Static burst lets a container keep what it did not use of its quota for a
// moment (cpu.max.burst); quota burst raises the quota of one that is held back while the shared pool has room, and lowers it
// when the pool has not. It remembers what it has raised, from which values, and what of it the averages do not show yet. Pure:
// it reads nothing and no clock. [one thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/qos-cpu-burst/limiter.hpp"
#include "plugins/qos-cpu-burst/quota.hpp"
#include "plugins/shared/strategy/wish.hpp"

namespace koord::cpu_burst {

struct Throttled {
  double ratio = 0;
  std::uint64_t at_ns = 0;  // when it was measured
};

struct Container {
  std::uint64_t handle = 0;
  std::string id, name, cgroup_dir;
  bool is_running = false;
  std::int64_t limit_milli = 0;        // 0: none
  std::optional<Throttled> throttled;  // nothing: not measured
  std::optional<double> usage_cores;
  std::optional<Bandwidth> quota;      // now; asked for only where reads_quota() says so; nothing: no limit, or gone
};

struct Pod {
  std::string name, cgroup_dir;
  slo::CpuBurst settings;          // the node's with the pod's own
  std::optional<Bandwidth> quota;  // as a container's
  std::vector<Container> containers;
};

struct Situation {
  std::uint64_t now_ns = 0;
  std::optional<Pool> pool;  // nothing: not known
  std::vector<Pod> pods;     // that may burst at all: active, and of no class LSE, LSR or BE
};

class CpuBurst {
 public:
  // Use of the pool is an average over this.
  explicit CpuBurst(std::uint64_t window_ns) : unseen_(window_ns) {}

  // Mainline kernels refuse a burst above the quota; with this it is wished for all the same.
  void set_burst_above_quota(bool may) { burst_above_quota_ = may; }

  // Whether plan() needs to know the quota of this container and of its pod.
  bool reads_quota(const slo::CpuBurst& settings, const Container& container) const;

  // All that is wished for: bursts() and quotas(). What is not wished for any more gets its original value back.
  strategy::Wishes plan(const Situation& situation);
  // What changes with the pods and their settings only.
  strategy::Wishes bursts(const std::vector<Pod>& pods) const;
  // What changes with how the pods do. Takes a step.
  strategy::Wishes quotas(const Situation& situation);

 private:
  struct Raised {
    std::int64_t limit_milli = 0, pod_limit_milli = 0;
    Bandwidth before;  // the first step
    Bandwidth seen;    // in the last round
    std::uint64_t stepped_ns = 0;
  };
  // A quota that is to be another, or to stay another.
  struct Step {
    const Pod* pod;
    const Container* container;
    Operation operation;
    Bandwidth before, to;
  };

  void observe(const Pod& pod);
  bool limiter_allows(const slo::CpuBurst& settings, const Container& container, std::uint64_t now_ns);
  std::optional<Step> step(const Pod& pod, const Container& container, PoolState state, std::uint64_t now_ns);
  void share_room(std::vector<Step>& steps, double room) const;
  void keep(const std::vector<Step>& steps, std::uint64_t now_ns);
  void wish_bursts(const Pod& pod, strategy::Wishes& wishes) const;
  void wish_quotas(const std::vector<Step>& steps, const Pool& pool, PoolState state, strategy::Wishes& wishes);
  void forget_all_but(const std::vector<Pod>& pods);

  Unseen unseen_;
  bool burst_above_quota_ = false;
  std::map<std::string, Limiter, std::less<>> limiters_;       // by container id
  std::map<std::string, Raised, std::less<>> raised_;          // by container id
  std::map<std::string, Bandwidth, std::less<>> pods_before_;  // by cgroup
};

}  // namespace koord::cpu_burst
