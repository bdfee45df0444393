// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/slo/pod_slo.hpp"

#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "plugins/shared/slo/read_sections.hpp"

namespace koord::slo {
namespace {

namespace json = boost::json;

std::optional<std::string_view> value_of(const koord_label* labels, std::uint32_t n, std::uint32_t stride,
                                         std::string_view key) {
  for (const koord_label& label : plugin::Strided<koord_label>(labels, n, stride))
    if (plugin::view(label.key) == key) return plugin::view(label.value);
  return std::nullopt;
}

// Returns the annotation's JSON value, or nullopt if the annotation is missing or not valid.
std::optional<json::value> object_of(const Annotation& annotation, std::string_view key, Problems& problems) {
  if (!annotation) return std::nullopt;
  Result<json::value> document = parse_object(*annotation);
  if (document) return *std::move(document);
  problems.push_back(std::string(key) + ": " + document.error().message() + "; it does not count");
  return std::nullopt;
}

// Calls `take(id of the cache, Members)` for each entry with a cache id.
template <class Take>
void each_cache(const Members& members, Take take) {
  members.each("schemataPerCache", [&](const Members& entry) {
    Number cache;
    entry.number("cacheID", cache, 0, INT32_MAX);
    if (cache) take(static_cast<std::uint32_t>(*cache), entry);
  });
}

void read_l3(const Members& llc, PodResctrl& pod) {
  llc.section("schemata", [&](const Members& schemata) { schemata.range("range", pod.l3_range, 0, 100); });
  each_cache(llc, [&](std::uint32_t cache, const Members& entry) {
    std::optional<PodResctrl::Range> range;
    entry.range("range", range, 0, 100);
    if (range) pod.l3_of_cache[cache] = *range;
  });
}

void read_bandwidth(const Members& mb, PodResctrl& pod) {
  mb.section("schemata", [&](const Members& schemata) { schemata.percent("percent", pod.mb_percent); });
  if (pod.mb_percent == 0) pod.mb_percent.reset();
  each_cache(mb, [&](std::uint32_t cache, const Members& entry) {
    Number percent;
    entry.percent("percent", percent);
    if (percent.value_or(0) > 0) pod.mb_of_cache[cache] = *percent;
  });
}

enum class MemoryPolicy { by_node, none, recommended };

template <class Value>
void replace(std::optional<Value>& value, const std::optional<Value>& own) {
  if (own) value = own;
}

void replace_given(MemoryQos& values, const MemoryQos& own) {
  replace(values.enable, own.enable);
  replace(values.min_limit_percent, own.min_limit_percent);
  replace(values.low_limit_percent, own.low_limit_percent);
  replace(values.throttling_percent, own.throttling_percent);
  replace(values.wmark_ratio, own.wmark_ratio);
  replace(values.wmark_scale_permill, own.wmark_scale_permill);
  replace(values.wmark_min_adj, own.wmark_min_adj);
  replace(values.priority_enable, own.priority_enable);
  replace(values.priority, own.priority);
  replace(values.oom_kill_group, own.oom_kill_group);
  replace(values.page_cache_enable, own.page_cache_enable);
  replace(values.page_cache_limit_percent, own.page_cache_limit_percent);
  replace(values.page_cache_limit_bytes, own.page_cache_limit_bytes);
  replace(values.page_cache_reclaim_sync, own.page_cache_reclaim_sync);
}

}  // namespace

Annotation annotation_of(const koord_pod& pod, std::string_view key) {
  return value_of(pod.annotations, pod.n_annotations, pod.label_stride, key);
}

Annotation annotation_of(const koord_node& node, std::string_view key) {
  return value_of(node.annotations, node.n_annotations, node.label_stride, key);
}

std::optional<std::string_view> label_of(const koord_pod& pod, std::string_view key) {
  return value_of(pod.labels, pod.n_labels, pod.label_stride, key);
}

const ClassQos* class_for(const ResourceQos& strategy, std::uint32_t qos) {
  const auto of = [](const std::optional<ClassQos>& section) { return section ? &*section : nullptr; };
  switch (qos) {
    case KOORD_QOS_LSE:
    case KOORD_QOS_LSR:
      return of(strategy.lsr);
    case KOORD_QOS_LS:
      return of(strategy.ls);
    case KOORD_QOS_BE:
      return of(strategy.be);
    case KOORD_QOS_SYSTEM:
      return of(strategy.system);
    default:
      return nullptr;
  }
}

CpuBurst cpu_burst_of(const CpuBurst& node, const Annotation& cpu_burst, Problems& problems) {
  CpuBurst burst = node;
  const auto object = object_of(cpu_burst, kCpuBurstAnnotation, problems);
  if (!object) return burst;
  const std::size_t before = problems.size();
  read_pod_burst(Members(*object, std::string(kCpuBurstAnnotation), problems), burst);
  if (problems.size() > before) burst.policy = BurstPolicy::none;
  for (std::size_t i = before; i < problems.size(); ++i) problems[i] += "; the pod's CPU burst is inactive";
  return burst;
}

PodMemoryQos memory_qos_of(const MemoryQos& of_class, std::uint32_t qos, const Annotation& memory_qos,
                           Problems& problems) {
  PodMemoryQos pod{of_class, {}};
  const auto object = object_of(memory_qos, kMemoryQosAnnotation, problems);
  if (!object) return pod;
  const Members members(*object, std::string(kMemoryQosAnnotation), problems);
  std::optional<MemoryPolicy> policy;
  members.choice(
      "policy", policy,
      {{"default", MemoryPolicy::by_node}, {"none", MemoryPolicy::none}, {"auto", MemoryPolicy::recommended}});
  if (policy == MemoryPolicy::none) {
    pod.values = {};
    return pod;
  }
  if (policy == MemoryPolicy::recommended) pod.values = recommended_memory_qos(qos);
  read_memory_qos(members, pod.own);
  replace_given(pod.values, pod.own);
  return pod;
}

MemoryQos recommended_memory_qos(std::uint32_t qos) {
  const bool system = qos == KOORD_QOS_SYSTEM || qos == KOORD_QOS_NONE;
  MemoryQos values;
  values.enable = false;
  values.min_limit_percent = values.low_limit_percent = values.throttling_percent = 0;
  values.wmark_ratio = system ? 0 : 95;
  values.wmark_scale_permill = system ? 50 : 20;
  values.wmark_min_adj = system ? 0 : qos == KOORD_QOS_BE ? 50 : -25;
  values.priority_enable = values.priority = values.oom_kill_group = 0;
  return values;
}

std::optional<PodResctrl> resctrl_of(const Annotation& resctrl, Problems& problems) {
  const auto object = object_of(resctrl, kResctrlAnnotation, problems);
  if (!object) return std::nullopt;
  PodResctrl pod;
  const std::size_t before = problems.size();
  const Members members(*object, std::string(kResctrlAnnotation), problems);
  members.section("llc", [&](const Members& llc) { read_l3(llc, pod); });
  members.section("mb", [&](const Members& mb) { read_bandwidth(mb, pod); });
  for (std::size_t i = before; i < problems.size(); ++i) problems[i] += "; the pod gets no group of its own";
  return problems.size() > before || pod == PodResctrl{} ? std::nullopt : std::optional(std::move(pod));
}

std::optional<std::vector<Block>> blocks_of(const Annotation& blkio_qos, Problems& problems) {
  std::vector<Block> blocks;
  if (blkio_qos && trim(*blkio_qos).empty()) return blocks;
  const auto object = object_of(blkio_qos, kBlkioQosAnnotation, problems);
  if (!object || !read_blocks(Members(*object, std::string(kBlkioQosAnnotation), problems), blocks))
    return std::nullopt;
  return blocks;
}

}  // namespace koord::slo
