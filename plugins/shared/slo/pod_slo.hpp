// SPDX-License-Identifier: Apache-2.0
// Overrides of the NodeSLO's sections by a pod's own annotations, with the same rules as `koordctl slo --explain FIELD
// --pod POD`. An annotation that is not a JSON mapping is ignored. In memoryQOS and blkioQOS, only the invalid field is
// ignored; an invalid field of cpuBurst or resctrl makes the pod's whole policy inactive. Each problem is reported in
// `problems` and begins with the annotation's key. Pure.
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
inline constexpr std::string_view kResctrlAnnotation = "node.koordinator.sh/resctrl";  // the pod's own resctrl group
inline constexpr std::string_view kQosLabel = "koordinator.sh/qosClass";

using Annotation = std::optional<std::string_view>;  // nullopt: missing

Annotation annotation_of(const koord_pod& pod, std::string_view key);
Annotation annotation_of(const koord_node& node, std::string_view key);
std::optional<std::string_view> label_of(const koord_pod& pod, std::string_view key);

// Returns the section for pods of a class KOORD_QOS_*; LSE uses the section of LSR. Null: missing.
const ClassQos* class_for(const ResourceQos& strategy, std::uint32_t qos);

// Returns the node's values, each replaced by the pod's value if set. sharePoolThresholdPercent always comes from the
// node. An invalid field sets the policy to none.
CpuBurst cpu_burst_of(const CpuBurst& node, const Annotation& cpu_burst, Problems& problems);

struct PodMemoryQos {
  MemoryQos values;  // the effective values
  MemoryQos own;     // the part of them that comes from the annotation's own fields
};

// Computes a pod's values. Begins with the class's values (policy default or unset), with the recommended values for
// the class KOORD_QOS_* (policy auto, even if the node has the class switched off), or without values (policy none).
// Then the annotation's own fields replace them.
PodMemoryQos memory_qos_of(const MemoryQos& of_class, std::uint32_t qos, const Annotation& memory_qos,
                           Problems& problems);

// Returns the initial values of policy auto, as koordlet recommends them.
MemoryQos recommended_memory_qos(std::uint32_t qos);

// The pod's own share of caches and memory bandwidth.
struct PodResctrl {
  using Range = std::pair<std::int64_t, std::int64_t>;  // percent of a cache; the end is not included
  std::optional<Range> l3_range;                        // range in each cache that l3_of_cache does not name
  std::map<std::uint32_t, Range> l3_of_cache;
  Number mb_percent;  // 1 to 100
  std::map<std::uint32_t, std::int64_t> mb_of_cache;

  bool operator==(const PodResctrl&) const = default;
};
// Returns nullopt if the annotation is missing, has an invalid value, or requests nothing. 0 percent of bandwidth means
// unset.
std::optional<PodResctrl> resctrl_of(const Annotation& resctrl, Problems& problems);

// Returns the pod's own block devices. An empty annotation gives an empty list. Returns nullopt if the annotation has
// no blocks or cannot be parsed.
std::optional<std::vector<Block>> blocks_of(const Annotation& blkio_qos, Problems& problems);

}  // namespace koord::slo
