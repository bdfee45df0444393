// SPDX-License-Identifier: Apache-2.0
// The best-effort pods that memory is reclaimed from: the open files and the Reclaimer of each. On the instance's
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
  // `metrics` may be null: then cold memory is unknown.
  Pods(const koord_host* host, const koord_svc_cgroup* cgroup, const koord_svc_metrics* metrics)
      : host_(host), cgroup_(cgroup), metrics_(metrics) {}

  // Running pods of QoS class BE. One that stays keeps what was learnt of it.
  void follow(const plugin::Snapshot& snapshot);
  strategy::Intents intents(std::uint64_t now_ns, const Settings& settings);
  void learn(const koord_intent_result& result);

  bool any() const { return !pods_.empty(); }
  // The pressure of no pod is known: nothing is reclaimed blindly.
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
  std::map<std::string, Pod, std::less<>> pods_;  // by cgroup
};

}  // namespace koord::memory_reclaim
