// SPDX-License-Identifier: Apache-2.0
// Decides the groups of resctrl, the share of each, and the pods with threads in it. Pure.
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

// The host makes and reverts only groups with this prefix.
inline constexpr std::string_view kPrefix = "koord-";

struct Pod {
  std::string uid, name, cgroup_dir;   // name: "namespace/name"
  std::uint32_t qos = 0;               // KOORD_QOS_*
  std::optional<slo::PodResctrl> own;  // of its annotation
};

struct Settings {
  std::int64_t amd_domain_gbps = 20;  // 100 % of an AMD domain's bandwidth, GB/s
  std::int64_t domain_megabytes = 0;  // of a domain where resctrl is mounted with mba_MBps, MiB/s; 0: unset
};

// All pointers are borrowed for the call.
struct Inputs {
  const Hardware* hardware = nullptr;
  const slo::ResourceQos* strategy = nullptr;  // null: not configured
  std::vector<Pod> pods;                       // those that live
  std::vector<std::string> groups;             // that there are now
  std::set<std::string> stale;                 // our own, not proposed for long
  Settings settings;
};

struct Plan {
  strategy::Intents intents;
  slo::Problems problems;  // values that could not be proposed, and why
};

Plan plan(const Inputs& inputs);

// Follows, round after round, which of our groups exist without a proposal: stale groups of a session with lost
// records. The host reverts groups that are not proposed any more by itself, sooner than kStaleAfterNs.
class StaleGroups {
 public:
  static constexpr std::uint64_t kStaleAfterNs = 60'000'000'000;

  // Those that have been so for long. `intents`: of the last round.
  std::set<std::string> update(const std::vector<std::string>& groups, const strategy::Intents& intents,
                               std::uint64_t now_ns);

 private:
  std::map<std::string, std::uint64_t> unproposed_since_;
};

std::string group_of_class(std::uint32_t qos);   // "koord-LSR", also of LSE; "" of SYSTEM and of none
std::string group_of_pod(std::string_view uid);  // "koord-pod-UID"

}  // namespace koord::rdt
