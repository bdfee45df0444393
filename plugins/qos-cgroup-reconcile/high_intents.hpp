// SPDX-License-Identifier: Apache-2.0
// HighIntents: the intents for memory.high. Each container that gets a memory.high has a HighGuard and open files. On
// the instance's strand.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-cgroup-reconcile/high_guard.hpp"
#include "plugins/qos-cgroup-reconcile/memory_qos.hpp"

namespace koord::cgroup_reconcile {

class HighIntents {
 public:
  HighIntents() = default;
  HighIntents(const koord_host* host, const koord_svc_cgroup* cgroup) : host_(host), cgroup_(cgroup) {}

  // Sets the cgroups to control. A cgroup that is kept keeps its guard.
  void follow(std::vector<HighTarget> targets);
  // Returns the current proposals, valid until the next call. Reads only the values that guards need, each every ten
  // seconds.
  const strategy::Intents& intents(std::uint64_t now_ns, const GuardSettings& settings, std::int64_t page_size);

  bool any() const { return !watched_.empty(); }
  // Returns whether the pressure of no cgroup can be read, so stalls cannot be detected.
  bool blind() const;

 private:
  struct Watched {
    HighTarget target;
    HighGuard guard = {};
    plugin::CgroupFile usage = {}, pressure = {};
    bool is_new = true;  // the target is new, too
    bool knows_pressure = false;
    std::optional<strategy::Intent> intent = {};
  };

  HighReading read(Watched& watched);
  std::optional<std::int64_t> read_one(plugin::CgroupFile& file, const std::string& dir, std::string_view name,
                                       std::string_view key);

  const koord_host* host_ = nullptr;
  const koord_svc_cgroup* cgroup_ = nullptr;
  std::map<std::string, Watched> watched_;  // key: cgroup
  strategy::Intents intents_;
};

// Returns the current proposal for a container; nullopt while its usage is unknown.
std::optional<strategy::Intent> high_intent(const HighTarget& target, const HighGuard& guard,
                                            std::optional<std::int64_t> high, const HighReading& reading,
                                            const GuardSettings& settings);

}  // namespace koord::cgroup_reconcile
