// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/record.hpp"

#include "core/metric/find_label.hpp"

namespace koord::verdict {
namespace {

// In the order of the enumerators, which begin with 1.
constexpr std::string_view kKindNames[] = {"interfered",        "self-quota",    "self-threads",
                                           "self-memory-limit", "shared-parent", "unknown"};
constexpr std::string_view kResourceNames[] = {"cpu", "blkio", "memory", "cache"};
constexpr std::string_view kMethodNames[] = {"exact", "estimated", "suspected"};
constexpr std::string_view kSuspectKindNames[] = {"subject", "outside", "kernel", "other"};

template <class Enumeration, std::size_t n>
std::string_view name_in(const std::string_view (&names)[n], Enumeration value, std::string_view otherwise) {
  const auto i = static_cast<std::size_t>(value) - 1;
  return i < n ? names[i] : otherwise;
}

}  // namespace

std::string_view label_of(const metric::Labels& labels, std::string_view name) {
  const std::string* found = metric::find_label(labels, name);
  return found ? std::string_view(*found) : std::string_view();
}

std::string_view name_of(Kind kind) { return name_in(kKindNames, kind, "unknown"); }
std::string_view name_of(Resource resource) { return name_in(kResourceNames, resource, "unknown"); }
std::string_view name_of(Method method) { return name_in(kMethodNames, method, "suspected"); }
std::string_view name_of(SuspectKind kind) { return name_in(kSuspectKindNames, kind, "other"); }
std::string_view name_of(Origin origin) { return origin == Origin::own ? "own" : "third-party"; }

std::optional<Kind> kind_named(std::string_view name) {
  for (Kind kind : kKinds)
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

std::optional<Resource> resource_named(std::string_view name) {
  for (Resource resource : kResources)
    if (name_of(resource) == name) return resource;
  return std::nullopt;
}

std::string name_of_subject(const metric::Labels& labels) {
  std::string name;
  for (std::string_view label : {"pod_namespace", "pod_name", "container_name"}) {
    const std::string_view value = label_of(labels, label);
    if (value.empty()) continue;
    if (!name.empty()) name += '/';
    name += value;
  }
  return name.empty() ? std::string(label_of(labels, "container_id")) : name;
}

std::size_t bytes_of(const Record& record) {
  std::size_t bytes = sizeof record + record.plugin.size() + record.victim_name.size() + record.note.size() +
                      record.statistic.name.size() + record.statistic.unit.size() + record.amount_unit.size() +
                      record.why_ended.size() + metric::bytes_of(record.victim.labels);
  for (const Suspect& suspect : record.suspects)
    bytes += sizeof suspect + suspect.name.size() + metric::bytes_of(suspect.subject.labels);
  for (const auto& [resource, finding] : record.others)
    bytes += sizeof record.others[0] + resource.size() + finding.size();
  return bytes;
}

}  // namespace koord::verdict
