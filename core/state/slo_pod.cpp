// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_pod.hpp"

#include <algorithm>
#include <array>

#include "core/state/classes.hpp"
#include "core/state/document.hpp"
#include "core/state/slo_merge.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

// The fields of a section that an annotation may set; empty: all fields.
struct Annotation {
  std::string_view section, key;
  std::array<std::string_view, 4> fields;
};
constexpr std::array<Annotation, 5> kAnnotations{{
    {"cpuBurstStrategy",
     "koordinator.sh/cpuBurst",
     {"policy", "cpuBurstPercent", "cfsQuotaBurstPercent", "cfsQuotaBurstPeriodSeconds"}},
    {"memoryQOS", "koordinator.sh/memoryQOS", {}},
    {"blkioQOS", "koordinator.sh/blkioQOS", {"blocks"}},
    {"cpuQOS", "koordinator.sh/cpuQOS", {"enable", "groupIdentity"}},
    {"networkQOS", "koordinator.sh/networkQOS", {"ingressLimit", "egressLimit"}},
}};

const Annotation* annotation_for(const SloLeaf& leaf) {
  if (!leaf.section) return nullptr;
  for (const Annotation& annotation : kAnnotations) {
    if (annotation.section != leaf.section->name) continue;
    const auto& fields = annotation.fields;
    const bool any = fields[0].empty();
    return any || std::find(fields.begin(), fields.end(), leaf.field->name) != fields.end() ? &annotation : nullptr;
  }
  return nullptr;
}

bool is_true(const json::value* value) { return value && value->is_bool() && value->get_bool(); }

// Returns why this pod's annotation never applies to this field; empty: it may apply.
std::string excluded(const SloLeaf& leaf, const Pod& pod) {
  const bool of_class = leaf.profile != SloProfile::general;
  const std::string_view section = class_section_of(pod.koord_qos);
  if (of_class && leaf.names[1] != section)
    return "the pod is of " + std::string(name_of(pod.koord_qos)) + ", which uses the section " +
           std::string(section.empty() ? "none" : section);
  const auto label = pod.labels.find(kQosLabel);
  if (leaf.section->name == "cpuBurstStrategy") {
    // A guaranteed pod without a label counts as LSR, but its annotation applies.
    const bool is_labelled = label != pod.labels.end() &&
                             (label->second == name_of(KoordQos::lse) || label->second == name_of(KoordQos::lsr));
    if (is_labelled || pod.koord_qos == KoordQos::be)
      return "pods of " + std::string(name_of(pod.koord_qos)) + " never exceed their CPU limit";
  }
  if (leaf.section->name == "cpuQOS") {
    if (label == pod.labels.end() || label->second != name_of(KoordQos::ls))
      return "it counts for pods with the label " + std::string(kQosLabel) + "=LS only";
  }
  return "";
}

void take(const SloLeaf& leaf, const json::value* value, PodSlo& result) {
  if (!value) return;
  result.value = *value;
  if (leaf.field->type == SloType::list ? value->is_array() : taken_value(*leaf.field, *value).has_value()) {
    result.counts = true;
    return;
  }
  result.note = "rejected: expected " + expected_of(*leaf.field);
}

// Reads the memory policy. `none` undoes all settings, `auto` starts with the class's defaults, both even if the
// section is off on the node.
void take_memory(const SloLeaf& leaf, const json::value& annotation, PodSlo& result) {
  const json::value* policy = find_member(annotation, "policy");
  const std::string name = policy && policy->is_string() ? std::string(policy->get_string()) : "";
  if (name == "none" || name == "auto") {
    const std::string_view begun = name == "none" ? leaf.field->defaults.off : leaf.field->defaults.of(leaf.profile);
    result.note = "by its policy '" + name + "'";
    if (!begun.empty()) result.value = *read_json(begun);
    result.counts = true;
    if (name == "none") return;
  } else if (!name.empty() && name != "default") {
    result.note = "its policy '" + name + "' is none of default, none, auto";
  }
  PodSlo own;
  take(leaf, find_member(annotation, leaf.field->name), own);
  if (own.counts) {
    result = {result.annotation, std::move(own.value), true, ""};
  } else if (own.value) {
    if (!result.counts) result.value = std::move(own.value);
    result.note = own.note;
  }
}

// Returns the first invalid field of a cpuBurst annotation; empty: all are valid. An annotation with an invalid field
// switches burst off for its pod.
std::string invalid_burst_field(const SloLeaf& leaf, const Annotation& of, const json::value& annotation) {
  for (const SloField& field : leaf.section->fields) {
    if (std::find(of.fields.begin(), of.fields.end(), field.name) == of.fields.end()) continue;
    const json::value* value = find_member(annotation, field.name);
    const bool is_empty_word =
        value && field.type == SloType::choice && value->is_string() && value->get_string().empty();
    if (value && !is_empty_word && !taken_value(field, *value))
      return std::string(field.name) + ": found " + shown(*value) + ", expected " + expected_of(field);
  }
  return "";
}

void switch_burst_off(const SloLeaf& leaf, const json::value* own, const std::string& why, PodSlo& result) {
  result.note = "the pod's CPU burst is inactive: " + why;
  if (own) result.value = *own;
  if (leaf.field->name != "policy") return;
  result.value = "none";
  result.counts = true;
}

}  // namespace

std::optional<PodSlo> pod_slo(const SloLeaf& leaf, const Pod& pod) {
  const Annotation* annotation = annotation_for(leaf);
  if (!annotation) return std::nullopt;
  PodSlo result{.annotation = std::string(annotation->key)};
  result.note = excluded(leaf, pod);
  const auto text = pod.annotations.find(annotation->key);
  if (text == pod.annotations.end()) {
    if (result.note.empty()) result.note = "the pod has no such annotation";
    return result;
  }
  Result<json::value> document = read_json(text->second);
  if (!document || !document->is_object()) {
    result.note = "the annotation cannot be read and does not count: " +
                  (document ? std::string("it is not a mapping") : document.error().message());
    return result;
  }
  const json::value* own = find_member(*document, leaf.field->name);
  if (!result.note.empty()) {
    if (own) result.value = *own;
    return result;
  }
  const std::string invalid =
      leaf.section->name == "cpuBurstStrategy" ? invalid_burst_field(leaf, *annotation, *document) : "";
  if (!invalid.empty()) {
    switch_burst_off(leaf, own, invalid, result);
  } else if (leaf.section->name == "memoryQOS") {
    take_memory(leaf, *document, result);
  } else if (leaf.section->name == "cpuQOS" && leaf.field->name == "groupIdentity" &&
             !is_true(find_member(*document, "enable"))) {
    result.value = 0;
    result.counts = true;
    result.note = "the annotation's enable is not true";
  } else {
    take(leaf, own, result);
  }
  if (!result.value && result.note.empty()) result.note = "the annotation does not set it";
  return result;
}

}  // namespace koord::state
