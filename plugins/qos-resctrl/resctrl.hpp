// SPDX-License-Identifier: Apache-2.0
// Decides the resctrl groups, the share of each, and the pods that have their threads in it. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/qos-resctrl/hardware.hpp"
#include "plugins/shared/slo/pod_slo.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::rdt {

// The host creates and removes only groups with this prefix.
inline constexpr std::string_view kPrefix = "koord-";

struct Pod {
  std::string uid, name, cgroup_dir;   // name: "namespace/name"
  std::uint32_t qos = 0;               // KOORD_QOS_*
  std::optional<slo::PodResctrl> own;  // values of its annotation
};

struct Settings {
  std::int64_t amd_domain_gbps = 20;  // 100 % of an AMD domain's bandwidth, GB/s
  std::int64_t domain_megabytes = 0;  // 100 % of a domain with the mount option mba_MBps, MiB/s; 0: unset
};

// All pointers are borrowed for the call.
struct Inputs {
  const Hardware* hardware = nullptr;
  const slo::ResourceQos* strategy = nullptr;  // null: not configured
  std::vector<Pod> pods;                       // pods that have not ended
  std::vector<std::string> groups;             // existing groups
  std::set<std::string> stale;                 // our own groups that have not been proposed for a while
  Settings settings;
};

struct Plan {
  strategy::Intents intents;
  slo::Problems problems;  // values that could not be proposed, with the reason
};

Plan plan(const Inputs& inputs);

// Tracks over several rounds which of our groups exist without a proposal. These are stale groups of an earlier
// session; its records were lost. The host itself reverts groups that are not proposed any more, sooner than
// kStaleAfterNs.
class StaleGroups {
 public:
  static constexpr std::uint64_t kStaleAfterNs = 60'000'000'000;

  // Returns the groups that have been stale for that time. `intents`: the intents of the last round.
  std::set<std::string> update(const std::vector<std::string>& groups, const strategy::Intents& intents,
                               std::uint64_t now_ns);

 private:
  std::map<std::string, std::uint64_t> unproposed_since_;
};

std::string group_of_class(std::uint32_t qos);   // "koord-LSR" for LSR and LSE; "" for SYSTEM and if there is no class
std::string group_of_pod(std::string_view uid);  // "koord-pod-UID"

}  // namespace koord::rdt
