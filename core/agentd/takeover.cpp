// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/takeover.hpp"

#include <algorithm>

#include "core/knob/spec_base.hpp"
#include "core/state/cpu_owners.hpp"

namespace koord::agentd {
namespace {

using decision::Level;
using TakeoverRule = TakeoverPlace::Rule;

// A knob with the same base for all pods.
struct FixedKnob {
  std::string_view name, base;
  bool of_class, of_pod, of_container;
};
constexpr std::string_view kNoIoLimit = "rbps=max wbps=max riops=max wiops=max";
// Appended to the reason of a knob that a kubelet with the feature MemoryQoS sets.
constexpr std::string_view kMemoryQos = "; with MemoryQoS the kubelet does";
constexpr FixedKnob kFixedKnobs[] = {
    {"cpu.max.burst", "0", false, true, true},
    {"cpu.bvt_warp_ns", "0", true, true, false},
    {"cpu.idle", "0", true, false, false},
    {"memory.min", "0", true, true, true},
    {"memory.low", "0", true, true, true},
    {"memory.high", "max", false, false, true},
    {"memory.wmark_ratio", "0", false, true, true},
    {"memory.wmark_scale_factor", "50", false, true, true},
    {"memory.wmark_min_adj", "0", false, true, true},
    {"memory.priority", "0", true, true, true},
    {"memory.use_priority_oom", "0", true, true, true},
    {"memory.oom.group", "0", true, true, false},  // the kubelet itself sets it for containers
    {"memory.pagecache_limit.enable", "0", false, true, false},
    {"io.max", kNoIoLimit, true, true, false},
    {"io.weight", "default", true, true, false},
};

bool is_set_by_memory_qos(std::string_view knob) { return knob == "memory.min" || knob == "memory.high"; }

bool is_active(const state::Pod& pod) {
  return pod.phase == state::Phase::pending || pod.phase == state::Phase::running;
}

bool is_level(const FixedKnob& fixed, Level level) {
  return level == Level::qos ? fixed.of_class : level == Level::pod ? fixed.of_pod : fixed.of_container;
}

class Places {
 public:
  explicit Places(bool has_specs) : has_specs_(has_specs) {}

  void add_class(const std::string& dir) {
    add_fixed({.level = Level::qos, .cgroup_dir = dir}, "the kubelet does not set this knob for a class");
  }

  void add_best_effort(const std::string& dir) {
    add({.level = Level::qos,
         .cgroup_dir = dir,
         .rule = TakeoverRule::fixed,
         .fixed = "max",
         .why = "the kubelet gives a class no quota"},
        "cpu.max");
    add({.level = Level::qos, .cgroup_dir = dir, .rule = TakeoverRule::cpus, .why = "the CPUs of all pods"},
        "cpuset.cpus");
  }

  // Adds the cgroups of a pod. `is_static`: the kubelet sets the CPUs of containers itself, every ten seconds.
  void add_pod(const state::Pod& pod, bool is_static) {
    TakeoverPlace place{.level = Level::pod, .cgroup_dir = pod.cgroup_dir, .pod = state::full_name(pod)};
    const bool is_best_effort = pod.koord_qos == state::KoordQos::be || pod.kube_qos == state::KubeQos::best_effort;
    add_cgroup(place, pod.resources, is_best_effort, is_best_effort);
    place.level = Level::container;
    for (const state::Container& container : pod.containers) {
      const bool runs_with_pod =
          container.kind == state::ContainerKind::regular || container.kind == state::ContainerKind::sidecar;
      if (!runs_with_pod || container.cgroup_dir.empty()) continue;
      place.cgroup_dir = container.cgroup_dir;
      place.container = container.name;
      add_cgroup(place, container.resources, is_best_effort, is_best_effort && !is_static);
    }
  }

  std::vector<TakeoverPlace> places() && { return std::move(places_); }

 private:
  void add(TakeoverPlace place, std::string_view name) {
    place.knob = knob::find_knob(name);
    if (place.knob != nullptr && !place.cgroup_dir.empty()) places_.push_back(std::move(place));
  }

  void add_fixed(const TakeoverPlace& of, std::string why) {
    for (const FixedKnob& fixed : kFixedKnobs) {
      if (!is_level(fixed, of.level)) continue;
      TakeoverPlace place = of;
      place.rule = TakeoverRule::fixed;
      place.fixed = fixed.base;
      place.why = why + std::string(is_set_by_memory_qos(fixed.name) ? kMemoryQos : "");
      add(std::move(place), fixed.name);
    }
  }

  void add_cgroup(const TakeoverPlace& of, const std::vector<state::Resource>& resources, bool is_best_effort,
                  bool has_cpus) {
    if (has_specs_) add_quota(of, resources, is_best_effort);
    if (has_cpus) {
      TakeoverPlace cpus = of;
      cpus.rule = TakeoverRule::cpus;
      cpus.why = "the CPUs of all pods";
      add(std::move(cpus), "cpuset.cpus");
    }
    add_fixed(of, "neither the pod's spec nor the kubelet sets it");
  }

  void add_quota(TakeoverPlace place, const std::vector<state::Resource>& resources, bool is_best_effort) {
    place.rule = TakeoverRule::quota;
    if (is_best_effort)
      for (const state::Resource& resource : resources)
        if (resource.name == "kubernetes.io/batch-cpu" && resource.limit > 0) place.batch_milli = resource.limit;
    add(std::move(place), "cpu.max");
  }

  const bool has_specs_;
  std::vector<TakeoverPlace> places_;
};

struct Base {
  knob::Value value;
  std::string why;
};

std::optional<Base> quota_base(const TakeoverPlace& place, const knob::Value& now, const knob::Subjects& subjects) {
  const std::int64_t period_us = subjects.quota_rules().period_us;
  if (const auto base = knob::spec_base_over(subjects, *place.knob, place.cgroup_dir, now)) {
    if (!base->is_reverted_to) return std::nullopt;  // several values would be right
    return Base{base->value, base->source};
  }
  const knob::Value unlimited{knob::kUnlimited, period_us};
  if (!place.batch_milli) return Base{unlimited, "no CPU limit"};
  if (now.amount == knob::kUnlimited) return std::nullopt;  // no hook adjusted the container at its creation
  return Base{{std::max(*place.batch_milli * period_us / 1000, knob::kLeastQuotaUs), period_us},
              "limit " + std::to_string(*place.batch_milli) + "m of batch-cpu"};
}

std::optional<Base> base_at(const TakeoverPlace& place, const knob::Value& now, const knob::Subjects& subjects,
                            const CpuSet& cpus) {
  if (place.rule == TakeoverRule::quota) return quota_base(place, now, subjects);
  if (place.rule == TakeoverRule::cpus)
    return now.set.empty() || cpus.empty() ? std::nullopt : std::optional(Base{{.set = cpus}, place.why});
  const Result<knob::Value> value =
      knob::parse_value(*place.knob, (now.item.empty() ? "" : now.item + ' ') + place.fixed);
  return value ? std::optional(Base{*value, place.why}) : std::nullopt;
}

}  // namespace

KubeDirs kube_dirs_of(const cgroup::KubeRoot& root) {
  return {qos_dir(root, cgroup::KubeQos::guaranteed), qos_dir(root, cgroup::KubeQos::burstable),
          qos_dir(root, cgroup::KubeQos::best_effort)};
}

std::vector<TakeoverPlace> takeover_places(const state::Snapshot& snapshot, const KubeDirs& dirs, PodKnowledge known) {
  Places places(known == PodKnowledge::specs);
  for (const std::string& dir : {dirs.all, dirs.burstable, dirs.best_effort}) places.add_class(dir);
  places.add_best_effort(dirs.best_effort);
  if (known == PodKnowledge::nothing) return std::move(places).places();
  const bool is_static = state::has_static_cpus(snapshot);
  for (const state::Pod& pod : snapshot.pods)
    if (is_active(pod)) places.add_pod(pod, is_static);
  return std::move(places).places();
}

std::size_t count_active_pods(const state::Snapshot& snapshot) {
  return static_cast<std::size_t>(std::count_if(snapshot.pods.begin(), snapshot.pods.end(), is_active));
}

std::optional<StaleValue> stale_value_at(const TakeoverPlace& place, const knob::Value& now,
                                         const knob::Subjects& subjects, const CpuSet& cpus) {
  std::optional<Base> base = base_at(place, now, subjects, cpus);
  if (!base || knob::same(*place.knob, now, base->value)) return std::nullopt;
  return StaleValue{place, now, std::move(base->value), std::move(base->why)};
}

bool is_group_of_koordlet(std::string_view group) { return group == "LSR" || group == "LS" || group == "BE"; }

}  // namespace koord::agentd
