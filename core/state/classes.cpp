// SPDX-License-Identifier: Apache-2.0
#include "core/state/classes.hpp"

#include <algorithm>
#include <optional>

namespace koord::state {
namespace {

template <class Enum>
std::optional<Enum> find_label(const StringMap& labels, std::string_view label, std::initializer_list<Enum> known) {
  auto found = labels.find(label);
  if (found == labels.end()) return std::nullopt;
  for (Enum value : known) {
    if (name_of(value) == found->second) return value;
  }
  return std::nullopt;
}

PriorityClass by_range(std::int32_t priority) {
  switch (priority / 1000) {
    case 9:
      return PriorityClass::prod;
    case 7:
      return PriorityClass::mid;
    case 5:
      return PriorityClass::batch;
    case 3:
      return PriorityClass::free;
    default:
      return PriorityClass::none;
  }
}

PriorityClass by_qos(KoordQos qos) {
  if (qos == KoordQos::none) return PriorityClass::none;
  return qos == KoordQos::be ? PriorityClass::batch : PriorityClass::prod;
}

using Resources = std::vector<Resource>;

const Resource* find_resource(const Resources& resources, std::string_view name) {
  auto found = std::find_if(resources.begin(), resources.end(),
                            [name](const Resource& resource) { return resource.name == name; });
  return found == resources.end() ? nullptr : &*found;
}

bool asks_for(const Resources& resources, std::string_view name) {
  const Resource* resource = find_resource(resources, name);
  return resource && (resource->request > 0 || resource->limit > 0);
}

// Returns whether request and limit of a resource are equal. A missing request equals the limit.
bool is_guaranteed(const Resources& resources, std::string_view name) {
  const Resource* resource = find_resource(resources, name);
  if (!resource || resource->limit <= 0) return false;
  return resource->request == kNoResource || resource->request == resource->limit;
}

}  // namespace

KoordQos koord_qos(const StringMap& labels, KubeQos kube_qos) {
  if (auto qos =
          find_label(labels, kQosLabel, {KoordQos::lse, KoordQos::lsr, KoordQos::ls, KoordQos::be, KoordQos::system}))
    return *qos;
  switch (kube_qos) {
    case KubeQos::unknown:
      return KoordQos::none;
    case KubeQos::guaranteed:
      return KoordQos::lsr;
    case KubeQos::burstable:
      return KoordQos::ls;
    case KubeQos::best_effort:
      return KoordQos::be;
  }
  return KoordQos::none;
}

PriorityClass priority_class(const StringMap& labels, std::int32_t priority, KoordQos qos) {
  if (labels.contains(kPriorityClassLabel))
    return find_label(labels, kPriorityClassLabel,
                      {PriorityClass::prod, PriorityClass::mid, PriorityClass::batch, PriorityClass::free})
        .value_or(by_qos(qos));
  PriorityClass klass = by_range(priority);
  return klass == PriorityClass::none ? by_qos(qos) : klass;
}

KubeQos kube_qos_of(const std::vector<Container>& containers, const std::vector<Resource>& stated) {
  bool any = false, guaranteed = true;
  auto weigh = [&](const Resources& resources) {
    for (const char* name : {"cpu", "memory"}) {
      any = any || asks_for(resources, name);
      guaranteed = guaranteed && is_guaranteed(resources, name);
    }
  };
  if (!stated.empty())
    weigh(stated);
  else
    for (const Container& container : containers)
      if (container.kind != ContainerKind::ephemeral) weigh(container.resources);  // ephemeral containers have none
  if (!any) return KubeQos::best_effort;
  return guaranteed ? KubeQos::guaranteed : KubeQos::burstable;
}

}  // namespace koord::state
