// SPDX-License-Identifier: Apache-2.0
// CpuBurst: decides which containers may burst, and how far. Static burst lets a container save unused quota for a
// short time (cpu.max.burst). Quota burst raises the quota of a throttled container while the shared pool has room, and
// lowers it otherwise. For this it proposes a factor on the limits of the container and its pod. It uses only its own
// factors and the limits of the spec, never a value of a cgroup, so each session begins at the factor 1. Pure: it reads
// no files and no clock. [one thread]
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
  std::uint64_t at_ns = 0;  // time of the measurement
};

struct Container {
  std::uint64_t handle = 0;
  std::string id, name, cgroup_dir;
  bool is_running = false;
  std::int64_t limit_milli = 0;        // 0: no limit
  std::optional<Throttled> throttled;  // nullopt: not measured
  std::optional<double> usage_cores;

  double limit_cores() const { return static_cast<double>(limit_milli) / 1000; }
  // Returns its id, or its cgroup if it has no id (a pod from a file).
  const std::string& key() const { return id.empty() ? cgroup_dir : id; }
};

struct Pod {
  std::string name, cgroup_dir;
  slo::CpuBurst settings;        // the node's settings with the pod's overrides
  std::int64_t limit_milli = 0;  // limit of its cgroup; 0: no limit
  std::vector<Container> containers;
};

// A throttled container that is not raised.
struct HeldBack {
  std::uint64_t handle = 0;
  std::string why;  // a sentence for an operator
};

struct Situation {
  std::uint64_t now_ns = 0;
  std::optional<Pool> pool;  // nullopt: unknown
  std::vector<Pod> pods;     // pods that may burst: active, and not of class LSE, LSR or BE
};

class CpuBurst {
 public:
  // `window_ns`: the usage of the pool is an average over this time.
  explicit CpuBurst(std::uint64_t window_ns) : changes_(window_ns) {}
  void set_window(std::uint64_t window_ns) { changes_.set_window(window_ns); }

  // Mainline kernels refuse a burst above the quota; with `may` it is proposed nevertheless.
  void set_burst_above_quota(bool may) { burst_above_quota_ = may; }

  // Reports whether the last factor for this container's cgroup is in effect. A factor that is not in effect (in shadow
  // mode, or replaced by a different plugin's value) raises no quota, and the next step begins at 1 again. A cap does
  // not replace a factor.
  void applied(std::string_view cgroup_dir, bool holds);

  // Returns all proposals: bursts() and quotas(). The host reverts knobs that are not proposed any more.
  strategy::Intents plan(const Situation& situation);
  // Returns the proposals that depend only on the pods and their settings.
  strategy::Intents bursts(const std::vector<Pod>& pods) const;
  // Returns the proposals that depend on the load of the pods. Takes a step.
  strategy::Intents quotas(const Situation& situation);
  // Throttled containers that quotas() has not raised. Each is listed once, and again after kHeldBackAgainNs. Empty
  // while the usage of the pool is unknown.
  static constexpr std::uint64_t kHeldBackAgainNs = 300'000'000'000;
  const std::vector<HeldBack>& held_back() const { return held_back_; }

 private:
  struct Raised {
    std::string cgroup_dir;
    std::int64_t limit_milli = 0, pod_limit_milli = 0;
    double proposed = 1;   // last proposal
    double in_effect = 1;  // according to the host
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
  std::map<std::string, Limiter, std::less<>> limiters_;        // key: Container::key()
  std::map<std::string, Raised, std::less<>> raised_;           // key: Container::key()
  std::map<std::string, std::uint64_t, std::less<>> noted_ns_;  // key: Container::key(); value: when it was last listed
  std::vector<HeldBack> held_back_;
};

}  // namespace koord::cpu_burst
