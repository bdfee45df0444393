// SPDX-License-Identifier: Apache-2.0
// Overrides of the NodeSLO's sections by a pod's own annotations. The same rules as `koordctl slo --explain FIELD --pod
// POD` shows: an annotation that is not a JSON mapping does not count. In memoryQOS and blkioQOS a single invalid field
// does not count; an invalid field of cpuBurst or resctrl makes the pod's whole policy inactive. Each is reported in
// `problems`, which begin with the annotation's key. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::slo {

inline constexpr std::string_view kCpuBurstAnnotation = "koordinator.sh/cpuBurst";
inline constexpr std::string_view kMemoryQosAnnotation = "koordinator.sh/memoryQOS";
inline constexpr std::string_view kBlkioQosAnnotation = "koordinator.sh/blkioQOS";
inline constexpr std::string_view kResctrlAnnotation = "node.koordinator.sh/resctrl";  // a group of the pod's own
inline constexpr std::string_view kQosLabel = "koordinator.sh/qosClass";

using Annotation = std::optional<std::string_view>;  // nullopt: missing

Annotation annotation_of(const koord_pod& pod, std::string_view key);
Annotation annotation_of(const koord_node& node, std::string_view key);
std::optional<std::string_view> label_of(const koord_pod& pod, std::string_view key);

// The section for pods of KOORD_QOS_*: LSE uses LSR's. Null: missing.
const ClassQos* class_for(const ResourceQos& strategy, std::uint32_t qos);

// The node's values, replaced one by one by the pod's; sharePoolThresholdPercent is the node's alone. With an invalid
// field the policy is none.
CpuBurst cpu_burst_of(const CpuBurst& node, const Annotation& cpu_burst, Problems& problems);

struct PodMemoryQos {
  MemoryQos values;  // the effective values
  MemoryQos own;     // of that what the annotation says field by field
};

// Begins with the class's values (policy default, or none set), with the recommended ones for KOORD_QOS_* (policy auto,
// whether or not the node has the class on) or with nothing (policy none); then the annotation's own fields replace
// them.
PodMemoryQos memory_qos_of(const MemoryQos& of_class, std::uint32_t qos, const Annotation& memory_qos,
                           Problems& problems);

// The initial values of policy auto; koordlet's recommendations.
MemoryQos recommended_memory_qos(std::uint32_t qos);

// The pod's own part of caches and memory bandwidth.
struct PodResctrl {
  using Range = std::pair<std::int64_t, std::int64_t>;  // percent of a cache, from below to
  std::optional<Range> l3_range;                        // of each cache that l3_of_cache does not name
  std::map<std::uint32_t, Range> l3_of_cache;
  Number mb_percent;  // 1 to 100
  std::map<std::uint32_t, std::int64_t> mb_of_cache;

  bool operator==(const PodResctrl&) const = default;
};
// nullopt: the annotation is missing, has an invalid figure, or asks nothing: 0 percent of bandwidth is "not given".
std::optional<PodResctrl> resctrl_of(const Annotation& resctrl, Problems& problems);

// The pod's own block devices. An empty annotation is an empty list; nullopt: it says nothing of blocks, or cannot be
// read.
std::optional<std::vector<Block>> blocks_of(const Annotation& blkio_qos, Problems& problems);

}  // namespace koord::slo
