// SPDX-License-Identifier: Apache-2.0
// CpuBurst: which containers may burst, and how far. Static burst lets a container keep its unused quota for a moment
// (cpu.max.burst). Quota burst raises the quota of a throttled container while the shared pool has room, and lowers it
// when the pool has not: it proposes a factor on the container's limit, and on its pod's. It computes with its own
// factors and the limits of the spec only, never with a value that a cgroup has; so each session begins at the factor
// 1. Pure: it reads nothing and no clock. [one thread]
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
#include "plugins/shared/strategy/intent.hpp"

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

  double limit_cores() const { return static_cast<double>(limit_milli) / 1000; }
  // Its id, or where it has none (a pod from a file) its cgroup.
  const std::string& key() const { return id.empty() ? cgroup_dir : id; }
};

struct Pod {
  std::string name, cgroup_dir;
  slo::CpuBurst settings;        // the node's with the pod's own
  std::int64_t limit_milli = 0;  // of its cgroup; 0: none
  std::vector<Container> containers;
};

// A container that its quota holds back and that is not raised.
struct HeldBack {
  std::uint64_t handle = 0;
  std::string why;  // a sentence for an operator
};

struct Situation {
  std::uint64_t now_ns = 0;
  std::optional<Pool> pool;  // nothing: not known
  std::vector<Pod> pods;     // that may burst at all: active, and of no class LSE, LSR or BE
};

class CpuBurst {
 public:
  // Use of the pool is an average over this.
  explicit CpuBurst(std::uint64_t window_ns) : changes_(window_ns) {}
  void set_window(std::uint64_t window_ns) { changes_.set_window(window_ns); }

  // Mainline kernels refuse a burst above the quota; with this it is proposed all the same.
  void set_burst_above_quota(bool may) { burst_above_quota_ = may; }

  // Whether the factor proposed last for this container's cgroup is in effect. One that is not (in shadow, or where
  // another plugin's value replaces it) raises nothing, and the next step begins at 1 again. A cap replaces no factor.
  void applied(std::string_view cgroup_dir, bool holds);

  // Returns all proposals: bursts() and quotas(). The host reverts knobs that are not proposed any more.
  strategy::Intents plan(const Situation& situation);
  // The part that changes with the pods and their settings only.
  strategy::Intents bursts(const std::vector<Pod>& pods) const;
  // The part that changes with the load of the pods. Takes a step.
  strategy::Intents quotas(const Situation& situation);
  // Containers that quotas() has not raised though their quota holds them back: each once, and again after
  // kHeldBackAgainNs. Not while the use of the pool is unknown.
  static constexpr std::uint64_t kHeldBackAgainNs = 300'000'000'000;
  const std::vector<HeldBack>& held_back() const { return held_back_; }

 private:
  struct Raised {
    std::string cgroup_dir;
    std::int64_t limit_milli = 0, pod_limit_milli = 0;
    double proposed = 1;   // last
    double in_effect = 1;  // as the host reports it
    double counted = 1;    // the factor that the pool's usage was corrected for
    std::uint64_t stepped_ns = 0;
  };
  // A factor to change, or to keep above 1.
  struct Step {
    const Pod* pod;
    const Container* container;
    Operation operation;
    double from, to;
  };

  void observe(const Pod& pod);
  void note_held_back(const Container& container, const Pool& pool, PoolState state, bool limiter_allows,
                      std::uint64_t now_ns);
  bool limiter_allows(const slo::CpuBurst& settings, const Container& container, std::uint64_t now_ns);
  std::optional<Step> step(const Pod& pod, const Container& container, const Pool& pool, PoolState state,
                           std::uint64_t now_ns);
  void share_room(std::vector<Step>& steps, double room) const;
  void keep(const std::vector<Step>& steps, std::uint64_t now_ns);
  void propose_bursts(const Pod& pod, strategy::Intents& intents) const;
  bool may_move(const slo::CpuBurst& settings, const Container& container) const;
  static void propose_quotas(const std::vector<Step>& steps, const Pool& pool, PoolState state,
                             strategy::Intents& intents);
  void forget_all_but(const std::vector<Pod>& pods);

  UnaveragedChanges changes_;
  bool burst_above_quota_ = false;
  std::map<std::string, Limiter, std::less<>> limiters_;        // by Container::key()
  std::map<std::string, Raised, std::less<>> raised_;           // likewise
  std::map<std::string, std::uint64_t, std::less<>> noted_ns_;  // likewise: when it was held back and noted
  std::vector<HeldBack> held_back_;
};

}  // namespace koord::cpu_burst
