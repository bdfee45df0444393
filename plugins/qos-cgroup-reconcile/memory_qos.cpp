// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cgroup-reconcile/memory_qos.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace koord::cgroup_reconcile {
namespace {

using slo::MemoryQos;
using strategy::Intent;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }

// A knob with the same value on every level that has it.
struct PlainKnob {
  std::string_view knob, field;
  slo::Number MemoryQos::*value;
  std::int64_t neutral;  // the kernel's default
  bool of_class;         // whether it is set on the directory of the class's pods, too
};
// memory.oom.group is not set for classes, because if the whole node is out of memory, the kernel kills everything in
// the outermost cgroup that has it, which would be all pods of the class.
constexpr PlainKnob kPlainKnobs[] = {
    {"memory.wmark_ratio", "wmarkRatio", &MemoryQos::wmark_ratio, 0, false},
    {"memory.wmark_scale_factor", "wmarkScalePermill", &MemoryQos::wmark_scale_permill, 50, false},
    {"memory.wmark_min_adj", "wmarkMinAdj", &MemoryQos::wmark_min_adj, 0, false},
    {"memory.priority", "priority", &MemoryQos::priority, 0, true},
    {"memory.use_priority_oom", "priorityEnable", &MemoryQos::priority_enable, 0, true},
    {"memory.oom.group", "oomKillGroup", &MemoryQos::oom_kill_group, 0, false},
};

struct Protection {
  std::int64_t min = 0, low = 0;
};

// The kernel accepts any pair, but a memory.low below memory.min would mislead people who read the files.
Protection protection_of(const MemoryQos& values, std::int64_t request) {
  Protection protection{share_of(request, values.min_limit_percent.value_or(0)),
                        share_of(request, values.low_limit_percent.value_or(0))};
  if (protection.low > 0) protection.low = std::max(protection.low, protection.min);
  return protection;
}

std::string_view section_of(std::uint32_t qos) {
  switch (qos) {
    case KOORD_QOS_LSE:
    case KOORD_QOS_LSR:
      return "lsrClass";
    case KOORD_QOS_LS:
      return "lsClass";
    case KOORD_QOS_BE:
      return "beClass";
    case KOORD_QOS_SYSTEM:
      return "systemClass";
    default:
      return "no class";
  }
}

// Returns the rank of a class; a lower rank is more important.
unsigned rank_of(std::uint32_t qos) {
  switch (qos) {
    case KOORD_QOS_SYSTEM:
    case KOORD_QOS_LSE:
    case KOORD_QOS_LSR:
      return 0;
    case KOORD_QOS_BE:
      return 2;
    default:
      return 1;
  }
}

std::uint32_t class_of_directory(std::uint32_t kube_qos) {
  switch (kube_qos) {
    case KOORD_KUBE_QOS_GUARANTEED:
      return KOORD_QOS_LSR;
    case KOORD_KUBE_QOS_BURSTABLE:
      return KOORD_QOS_LS;
    case KOORD_KUBE_QOS_BEST_EFFORT:
      return KOORD_QOS_BE;
    default:
      return KOORD_QOS_NONE;
  }
}

// Returns the values of a class; none if it is off. The host has removed the values of lsr, ls and be classes that are
// off, but not of system.
MemoryQos switched_on(const slo::ClassQos* section) {
  if (!section || !section->memory || section->memory->enable != true) return {};
  return *section->memory;
}

std::string_view parent_of(std::string_view dir) {
  const std::size_t slash = dir.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : dir.substr(0, slash);
}

std::string number(std::int64_t value) { return std::to_string(value); }

class Planner {
 public:
  Planner(const slo::ResourceQos& strategy, const Inputs& inputs) : strategy_(strategy), inputs_(inputs) {}

  Plan make() && {
    std::vector<Part> parts;
    for (const PodInput* pod : by_importance()) {
      part_ = {};
      take(*pod);
      parts.push_back(std::move(part_));
    }
    part_ = {};
    for (const auto& [dir, above] : above_) propose_sums(dir, above);
    for (const auto& [dir, qos] : directories_) propose_for_class(dir, qos);
    append(std::move(part_));
    for (Part& part : parts) append(std::move(part));
    if (any_limit_unknown_)
      plan_.problems.push_back("throttlingPercent: the memory limits of pods from the state source cgroup are unknown");
    if (plan_.left_out > 0)
      plan_.problems.push_back("a plan has at most " + number(static_cast<std::int64_t>(inputs_.most_intents)) +
                               " intents: " + number(static_cast<std::int64_t>(plan_.left_out)) +
                               " for the least important pods are left out");
    return std::move(plan_);
  }

 private:
  // Intents for one pod, or for the classes.
  struct Part {
    strategy::Intents intents;
    std::vector<HighTarget> highs;
  };

  std::vector<const PodInput*> by_importance() const {
    std::vector<const PodInput*> pods;
    for (const PodInput& pod : inputs_.pods) pods.push_back(&pod);
    std::stable_sort(pods.begin(), pods.end(),
                     [](const PodInput* a, const PodInput* b) { return rank_of(a->qos) < rank_of(b->qos); });
    return pods;
  }

  void append(Part part) {
    for (Intent& intent : part.intents) append(std::move(intent), plan_.intents);
    for (HighTarget& high : part.highs) append(std::move(high), plan_.highs);
  }
  template <class One>
  void append(One&& one, std::vector<One>& all) {
    if (plan_.intents.size() + plan_.highs.size() < inputs_.most_intents)
      all.push_back(std::forward<One>(one));
    else
      ++plan_.left_out;
  }

  struct Above {
    Protection sums;
    std::int64_t pods = 0;  // number of protected pods
  };
  // The source of a value, for reasons and inputs.
  struct Origin {
    std::string_view section;
    bool own = false;  // whether the values come from the pod's annotation
    std::string text(std::string_view field) const {
      return own ? std::string(slo::kMemoryQosAnnotation) + " of the pod"
                 : std::string(section) + ".memoryQOS." + std::string(field);
    }
  };

  void take(const PodInput& pod) {
    if (pod.cgroup_dir.empty()) return;
    slo::Problems problems;
    const MemoryQos of_class = switched_on(slo::class_for(strategy_, pod.qos));
    const slo::Annotation annotation = pod.annotation ? slo::Annotation(*pod.annotation) : std::nullopt;
    const slo::PodMemoryQos holds = slo::memory_qos_of(of_class, pod.qos, annotation, problems);
    for (const std::string& problem : problems) plan_.problems.push_back("pod " + pod.name + ": " + problem);
    add_above(pod, protection_of(holds.values, pod.request));
    propose_protection(KOORD_LEVEL_POD, pod.cgroup_dir, pod.request, holds, pod.qos);
    propose_plain(KOORD_LEVEL_POD, pod.cgroup_dir, holds, pod.qos);
    propose_page_cache(pod, holds.values);
    any_limit_unknown_ |= !pod.has_spec && holds.values.throttling_percent.value_or(0) > 0;
    for (const ContainerInput& container : pod.containers) {
      propose_protection(KOORD_LEVEL_CONTAINER, container.cgroup_dir, container.request, holds, pod.qos);
      propose_plain(KOORD_LEVEL_CONTAINER, container.cgroup_dir, holds, pod.qos);
      if (pod.has_spec) add_high(container, holds, pod.qos);
    }
    const std::uint32_t of_directory = class_of_directory(pod.kube_qos);
    if (of_directory != KOORD_QOS_NONE) directories_.emplace(std::string(parent_of(pod.cgroup_dir)), of_directory);
  }

  // Adds the protection to the ancestor directories. A cgroup's protection only counts as far as all its ancestors are
  // protected.
  void add_above(const PodInput& pod, const Protection& protection) {
    if (protection.min == 0 && protection.low == 0) return;
    for (std::string_view dir = parent_of(pod.cgroup_dir); !dir.empty(); dir = parent_of(dir)) {
      Above& above = above_[std::string(dir)];
      above.sums.min = sum(above.sums.min, protection.min);
      above.sums.low = sum(above.sums.low, protection.low);
      ++above.pods;
    }
  }

  void propose(std::uint32_t level, std::string_view knob, const std::string& dir, std::string value,
               std::string reason, strategy::Inputs inputs) {
    if (inputs_.missing_knobs.contains(knob)) return;
    part_.intents.push_back({level, std::string(knob), dir, std::move(value), std::move(reason), std::move(inputs)});
  }

  void propose_sums(const std::string& dir, const Above& above) {
    const auto propose_sum = [&](std::string_view knob, std::int64_t bytes) {
      if (bytes > 0)
        propose(KOORD_LEVEL_QOS, knob, dir, number(bytes),
                "the sum of " + std::string(knob) + " of the pods in it, which holds only as far as this does",
                {{"pods", number(above.pods)}});
    };
    propose_sum("memory.min", above.sums.min);
    propose_sum("memory.low", above.sums.low);
  }

  void propose_protection(std::uint32_t level, const std::string& dir, std::int64_t request,
                          const slo::PodMemoryQos& holds, std::uint32_t qos) {
    const Protection protection = protection_of(holds.values, request);
    const auto propose_one = [&](std::string_view knob, std::int64_t bytes, std::int64_t percent, const Origin& origin,
                                 std::string_view field) {
      if (bytes <= 0) return;
      propose(level, knob, dir, number(bytes), number(percent) + " % of the memory request, by " + origin.text(field),
              {{"request", number(request)}, {std::string(field), number(percent)}});
    };
    propose_one("memory.min", protection.min, holds.values.min_limit_percent.value_or(0),
                {section_of(qos), holds.own.min_limit_percent.has_value()}, "minLimitPercent");
    const bool raised =
        protection.low > 0 && protection.low > share_of(request, holds.values.low_limit_percent.value_or(0));
    propose_one("memory.low", protection.low,
                (raised ? holds.values.min_limit_percent : holds.values.low_limit_percent).value_or(0),
                {section_of(qos), holds.own.low_limit_percent.has_value()}, "lowLimitPercent");
  }

  void propose_plain(std::uint32_t level, const std::string& dir, const slo::PodMemoryQos& holds, std::uint32_t qos) {
    for (const PlainKnob& plain : kPlainKnobs) {
      const slo::Number value = holds.values.*plain.value;
      const bool own = (holds.own.*plain.value).has_value();
      if (!value || (*value == plain.neutral && !own)) continue;
      const Origin origin{section_of(qos), own};
      propose(level, plain.knob, dir, number(*value),
              std::string(plain.field) + " is " + number(*value) + ", by " + origin.text(plain.field), {});
    }
  }

  void propose_for_class(const std::string& dir, std::uint32_t qos) {
    const MemoryQos values = switched_on(slo::class_for(strategy_, qos));
    if (dir.empty()) return;
    for (const PlainKnob& plain : kPlainKnobs) {
      const slo::Number value = values.*plain.value;
      if (!plain.of_class || !value || *value == plain.neutral) continue;
      propose(KOORD_LEVEL_QOS, plain.knob, dir, number(*value),
              std::string(plain.field) + " is " + number(*value) + " for all of the class, by " +
                  Origin{section_of(qos)}.text(plain.field),
              {});
    }
  }

  void propose_page_cache(const PodInput& pod, const MemoryQos& values) {
    const PageCache cache = page_cache_of(values, pod.limit);
    const std::string reason =
        "limit of the pod's page cache, by pageCache… of " + std::string(section_of(pod.qos)) + " or the pod";
    if (cache.size)
      propose(KOORD_LEVEL_POD, "memory.pagecache_limit.size", pod.cgroup_dir, number(*cache.size), reason, {});
    if (cache.sync)
      propose(KOORD_LEVEL_POD, "memory.pagecache_limit.sync", pod.cgroup_dir, *cache.sync ? "1" : "0", reason, {});
    if (cache.enable)
      propose(KOORD_LEVEL_POD, "memory.pagecache_limit.enable", pod.cgroup_dir, *cache.enable ? "1" : "0", reason, {});
  }

  void add_high(const ContainerInput& container, const slo::PodMemoryQos& holds, std::uint32_t qos) {
    const std::int64_t percent = holds.values.throttling_percent.value_or(0);
    const std::optional<std::int64_t> limit = container.limit.value_or(0) > 0 ? container.limit : inputs_.allocatable;
    if (!limit || inputs_.missing_knobs.contains("memory.high")) return;
    std::optional<std::int64_t> high = memory_high(container.request, *limit, percent, inputs_.page_size);
    if (!high) return;
    high = std::max(*high, protection_of(holds.values, container.request).min);
    const Origin origin{section_of(qos), holds.own.throttling_percent.has_value()};
    part_.highs.push_back(
        {container.cgroup_dir,
         *high,
         container.limit,
         number(percent) + " % of the way from its memory request to " +
             (container.limit ? "its limit" : "the node's memory for pods") + ", by " +
             origin.text("throttlingPercent"),
         {{"request", number(container.request)}, {"limit", number(*limit)}, {"throttlingPercent", number(percent)}}});
  }

  const slo::ResourceQos& strategy_;
  const Inputs& inputs_;
  std::map<std::string, Above> above_;
  std::map<std::string, std::uint32_t>
      directories_;                 // directories with pods of one Kubernetes class, and their controlling QoS class
  bool any_limit_unknown_ = false;  // some pod that would be throttled has an unknown limit
  Part part_;                       // the part being made
  Plan plan_;
};

}  // namespace

std::int64_t share_of(std::int64_t amount, std::int64_t percent) {
  return amount / 100 * percent + amount % 100 * percent / 100;
}

std::optional<std::int64_t> memory_high(std::int64_t request, std::int64_t limit, std::int64_t percent,
                                        std::int64_t page_size) {
  if (percent <= 0) return std::nullopt;
  const std::int64_t above = std::max<std::int64_t>(limit - request, 0);
  return (request + share_of(above, percent)) / page_size * page_size;
}

PageCache page_cache_of(const slo::MemoryQos& values, std::optional<std::int64_t> limit) {
  PageCache cache;
  const std::int64_t most = std::max<std::int64_t>(limit.value_or(0), 0);  // 0: unlimited
  if (values.page_cache_limit_bytes)
    cache.size = most > 0 ? std::min(*values.page_cache_limit_bytes, most) : *values.page_cache_limit_bytes;
  else if (values.page_cache_limit_percent && most > 0)
    cache.size = share_of(most, *values.page_cache_limit_percent);
  if (cache.size) cache.enable = *cache.size > 0;
  if (cache.size && *cache.size > 0) cache.sync = values.page_cache_reclaim_sync.value_or(false);
  if (values.page_cache_enable) cache.enable = values.page_cache_enable;
  return cache;
}

Plan plan(const slo::ResourceQos& strategy, const Inputs& inputs) { return Planner(strategy, inputs).make(); }

}  // namespace koord::cgroup_reconcile
