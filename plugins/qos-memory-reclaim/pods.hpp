// SPDX-License-Identifier: Apache-2.0
// The best-effort pods from which memory is reclaimed: the open files and the Reclaimer of each pod. On the instance's
// strand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/qos-memory-reclaim/reclaimer.hpp"
#include "plugins/qos-memory-reclaim/shares.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::memory_reclaim {

class Pods {
 public:
  Pods() = default;
  // `metrics` may be null. In that case cold memory is unknown.
  Pods(const koord_host* host, const koord_svc_cgroup* cgroup, const koord_svc_metrics* metrics)
      : host_(host), cgroup_(cgroup), metrics_(metrics) {}

  // Follows the running pods of QoS class BE. A pod that is kept keeps its Reclaimer.
  void follow(const plugin::Snapshot& snapshot);
  strategy::Intents intents(std::uint64_t now_ns, const Settings& settings);
  void learn(const koord_intent_result& result);

  bool any() const { return !pods_.empty(); }
  // Returns whether the pressure of no pod is readable. Without pressure nothing is reclaimed.
  bool blind() const;

 private:
  struct Pod {
    std::uint64_t handle = 0;
    Reclaimer reclaimer = {};
    plugin::CgroupFile stat = {}, pressure = {};
    Reading reading = {};
  };

  void read(Pod& pod, const std::string& dir) const;
  std::map<std::uint64_t, std::int64_t> cold_by_pod(std::uint64_t now_ns) const;

  const koord_host* host_ = nullptr;
  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::map<std::string, Pod, std::less<>> pods_;  // key: cgroup
};

}  // namespace koord::memory_reclaim
