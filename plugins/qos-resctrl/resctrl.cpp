// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-resctrl/resctrl.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "koordetector/plugin.h"

namespace koord::rdt {
namespace {

using Range = slo::PodResctrl::Range;
using strategy::Intent;

// A requested group, and the requester.
struct Group {
  std::string name, origin;
  slo::PodResctrl share;
  bool is_class = false;
  bool restricts = false;  // false: the group is only for measuring
};

bool is_whole(const slo::PodResctrl& share) {
  return share.l3_of_cache.empty() && share.mb_of_cache.empty() &&
         share.l3_range.value_or(Range(0, 100)) == Range(0, 100) && share.mb_percent.value_or(100) == 100;
}

const slo::ResctrlQos* resctrl_of(const slo::ResourceQos& strategy, std::uint32_t qos) {
  const slo::ClassQos* section = slo::class_for(strategy, qos);
  return section && section->resctrl && section->resctrl->enable.value_or(false) ? &*section->resctrl : nullptr;
}

// Returns the groups of classes. Best-effort comes first, because other groups are protected from it.
std::vector<Group> class_groups(const slo::ResourceQos& strategy, slo::Problems& problems) {
  std::vector<Group> groups;
  for (const auto& [qos, section] :
       {std::pair(KOORD_QOS_BE, "beClass"), std::pair(KOORD_QOS_LSR, "lsrClass"), std::pair(KOORD_QOS_LS, "lsClass")}) {
    const slo::ResctrlQos* wanted = resctrl_of(strategy, qos);
    if (!wanted) continue;
    Group group{group_of_class(qos), std::string(section) + " of the NodeSLO", {}, true};
    const Range range(wanted->cat_range_start_percent.value_or(0), wanted->cat_range_end_percent.value_or(100));
    if (range.first >= range.second) {
      problems.push_back(group.origin + ": catRangeStartPercent " + std::to_string(range.first) +
                         " is not below catRangeEndPercent " + std::to_string(range.second) +
                         ", so its resctrlQOS is inactive");
      continue;
    }
    group.share.l3_range = range;
    if (wanted->mba_percent.value_or(0) > 0) group.share.mb_percent = wanted->mba_percent;
    group.restricts = !is_whole(group.share);
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.restricts > b.restricts; });
  return groups;
}

// Returns whether the uid is valid in a group name. The host refuses a whole plan with an invalid name (is_group_name()
// in core/knob/knob_table.cpp).
bool can_name_group(const std::string& uid) {
  constexpr std::size_t kLongestGroupName = 255;
  return !uid.empty() && group_of_pod(uid).size() <= kLongestGroupName &&
         uid.find_first_of(std::string_view("/\n\0", 3)) == std::string::npos;
}

// Returns the groups of pods. Pods with an existing group come before pods that request a new group.
std::vector<Group> pod_groups(const std::vector<Pod>& pods, const std::set<std::string>& there,
                              slo::Problems& problems) {
  std::vector<Group> groups;
  for (const Pod& pod : pods) {
    if (!pod.own) continue;
    const std::string origin = "the annotation of pod " + pod.name;
    if (can_name_group(pod.uid))
      groups.push_back({group_of_pod(pod.uid), origin, *pod.own, false, true});
    else
      problems.push_back(
          origin +
          ": metadata.uid: expected 1 to 245 bytes without '/', newline and NUL, so the pod gets no group of its own");
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    return std::pair(!there.contains(a.name), a.name) < std::pair(!there.contains(b.name), b.name);
  });
  return groups;
}

bool is_ours(const std::string& group) { return group.starts_with(kPrefix); }

class Sharing {
 public:
  Sharing(const Inputs& inputs, Plan& plan) : inputs_(inputs), plan_(plan) {}

  void propose_for(const Group& group) {
    const std::size_t before = plan_.intents.size();
    propose_for_cache(group);
    propose_for_bandwidth(group);
    if (plan_.intents.size() > before) made_.insert(group.name);
  }

  bool is_made(const std::string& group) const { return made_.contains(group); }

 private:
  // Returns text like "0=f;1=f" for the caches with a share. `of`: returns the text of a cache; empty: no share.
  template <class Of>
  static std::string line(const std::vector<std::uint32_t>& ids, Of of) {
    std::string text;
    for (std::uint32_t id : ids)
      if (const std::string value = of(id); !value.empty())
        text += (text.empty() ? "" : ";") + std::to_string(id) + "=" + value;
    return text;
  }

  void propose_for_cache(const Group& group) {
    if (!inputs_.hardware->l3) {
      if (group.share.l3_range.value_or(Range(0, 100)) != Range(0, 100) || !group.share.l3_of_cache.empty())
        plan_.problems.push_back(group.origin + ": this CPU cannot share out its L3 cache");
      return;
    }
    const Cache& cache = *inputs_.hardware->l3;
    report_missing_caches(group, cache.ids, group.share.l3_of_cache);
    const std::string value = line(cache.ids, [&](std::uint32_t id) {
      const auto own = group.share.l3_of_cache.find(id);
      const std::optional<Range> range = own == group.share.l3_of_cache.end() ? group.share.l3_range : own->second;
      return range ? hexadecimal(mask_of(cache, range->first, range->second)) : "";
    });
    if (value.empty()) return;
    strategy::Inputs inputs{{"cbm_mask", hexadecimal(cache.mask)}};
    if (group.share.l3_range)
      inputs.emplace_back("range_percent", std::to_string(group.share.l3_range->first) + "-" +
                                               std::to_string(group.share.l3_range->second));
    add(group, "resctrl.l3", value, "a part of the L3 cache", std::move(inputs));
  }

  void propose_for_bandwidth(const Group& group) {
    const bool limits = group.share.mb_percent.value_or(100) != 100 || !group.share.mb_of_cache.empty();
    const auto& bandwidth = inputs_.hardware->bandwidth;
    const std::optional<std::int64_t> domain = bandwidth ? domain_units(bandwidth->unit) : std::nullopt;
    if (!domain) {
      const char* const why =
          bandwidth ? "resctrl is mounted with mba_MBps, and the setting domainMegabytes does not say what 100 % is"
                    : "this CPU cannot share out memory bandwidth";
      if (limits) plan_.problems.push_back(group.origin + ": " + why);
      return;
    }
    report_missing_caches(group, bandwidth->ids, group.share.mb_of_cache);
    const bool has_default = bandwidth->unit == BandwidthUnit::megabytes;  // a new group has no limit, and the knob has
                                                                           // no number for "no limit"
    const std::string value = line(bandwidth->ids, [&](std::uint32_t id) -> std::string {
      const auto own = group.share.mb_of_cache.find(id);
      const slo::Number percent =
          own == group.share.mb_of_cache.end() ? group.share.mb_percent : slo::Number(own->second);
      if (!percent || (*percent == 100 && has_default)) return "";
      return std::to_string(bandwidth_of(*bandwidth, *percent, *domain));
    });
    if (value.empty()) return;
    strategy::Inputs inputs;
    if (group.share.mb_percent) inputs.emplace_back("percent", std::to_string(*group.share.mb_percent));
    if (*domain != 100) inputs.emplace_back("domain_units", std::to_string(*domain));
    add(group, "resctrl.mb", value, "a share of the memory bandwidth", std::move(inputs));
  }

  // Returns the amount for 100 % of a domain, in the unit; nullopt: unknown.
  std::optional<std::int64_t> domain_units(BandwidthUnit unit) const {
    switch (unit) {
      case BandwidthUnit::eighths:
        return inputs_.settings.amd_domain_gbps * 8;
      case BandwidthUnit::megabytes:
        return inputs_.settings.domain_megabytes > 0 ? std::optional(inputs_.settings.domain_megabytes) : std::nullopt;
      default:
        return 100;
    }
  }

  template <class Shares>
  void report_missing_caches(const Group& group, const std::vector<std::uint32_t>& ids, const Shares& shares) {
    for (const auto& [id, share] : shares)
      if (!std::binary_search(ids.begin(), ids.end(), id))
        plan_.problems.push_back(group.origin + ": there is no cache " + std::to_string(id));
  }

  void add(const Group& group, std::string knob, std::string value, const char* what, strategy::Inputs inputs) {
    plan_.intents.push_back({KOORD_LEVEL_NODE, std::move(knob), group.name, std::move(value),
                             group.origin + " gives its threads " + what, std::move(inputs)});
  }

  const Inputs& inputs_;
  Plan& plan_;
  std::set<std::string> made_;
};

void place(const Pod& pod, const Sharing& sharing, Plan& plan) {
  const std::string own = group_of_pod(pod.uid), of_class = group_of_class(pod.qos);
  const bool has_own = pod.own && sharing.is_made(own);
  if (!has_own && (of_class.empty() || !sharing.is_made(of_class))) return;
  plan.intents.push_back({KOORD_LEVEL_POD,
                          "resctrl.group",
                          pod.cgroup_dir,
                          has_own ? own : of_class,
                          has_own ? "the pod's annotation gives it a group of its own"
                                  : "the pod's threads are in the group of its QoS class",
                          {{"pod", pod.name}}});
}

}  // namespace

std::set<std::string> StaleGroups::update(const std::vector<std::string>& groups, const strategy::Intents& intents,
                                          std::uint64_t now_ns) {
  std::set<std::string> proposed, stale;
  for (const Intent& intent : intents)
    if (intent.level == KOORD_LEVEL_NODE && intent.knob != "resctrl.remove") proposed.insert(intent.cgroup_dir);
  std::map<std::string, std::uint64_t> since;
  for (const std::string& group : groups) {
    if (!is_ours(group) || proposed.contains(group)) continue;
    const auto known = unproposed_since_.find(group);
    const std::uint64_t first =
        since.emplace(group, known == unproposed_since_.end() ? now_ns : known->second).first->second;
    if (now_ns - first >= kStaleAfterNs) stale.insert(group);
  }
  unproposed_since_ = std::move(since);
  return stale;
}

std::string group_of_class(std::uint32_t qos) {
  switch (qos) {
    case KOORD_QOS_LSE:
    case KOORD_QOS_LSR:
      return std::string(kPrefix) + "LSR";
    case KOORD_QOS_LS:
      return std::string(kPrefix) + "LS";
    case KOORD_QOS_BE:
      return std::string(kPrefix) + "BE";
    default:
      return "";
  }
}

std::string group_of_pod(std::string_view uid) { return std::string(kPrefix) + "pod-" + std::string(uid); }

Plan plan(const Inputs& inputs) {
  Plan plan;
  if (!inputs.hardware) return plan;
  const std::set<std::string> there(inputs.groups.begin(), inputs.groups.end());
  std::vector<Group> groups;
  if (inputs.strategy) groups = class_groups(*inputs.strategy, plan.problems);
  for (Group& group : pod_groups(inputs.pods, there, plan.problems)) groups.push_back(std::move(group));

  const auto others = static_cast<std::size_t>(
      std::count_if(there.begin(), there.end(), [](const std::string& name) { return !is_ours(name); }));
  const std::size_t taken = others + 1;  // plus the default group of all other threads
  std::size_t left = inputs.hardware->closids > taken ? inputs.hardware->closids - taken : 0;
  Sharing sharing(inputs, plan);
  for (const Group& group : groups) {
    if (left == 0) {
      plan.problems.push_back(group.origin + ": no group is left for it: the CPU has " +
                              std::to_string(inputs.hardware->closids) + " CLOSIDs, " + std::to_string(taken) +
                              " are the kernel's and others', the rest is given to other classes and pods");
      continue;
    }
    sharing.propose_for(group);
    if (sharing.is_made(group.name)) --left;
  }
  for (const Pod& pod : inputs.pods) place(pod, sharing, plan);
  for (const std::string& group : inputs.stale)
    if (!sharing.is_made(group))
      plan.intents.push_back(
          {KOORD_LEVEL_NODE, "resctrl.remove", group, "1", "a group without intents for a minute occupies a CLOSID"});
  return plan;
}

}  // namespace koord::rdt
