// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_resources.hpp"

#include <algorithm>
#include <set>

#include "core/base/saturating.hpp"

namespace koord::state {
namespace {

// Returns the element of this name in the sorted list. Inserts it if it is missing.
Resource& place_of(std::vector<Resource>& resources, std::string_view name) {
  auto place = std::lower_bound(resources.begin(), resources.end(), name,
                                [](const Resource& r, std::string_view wanted) { return r.name < wanted; });
  if (place == resources.end() || place->name != name)
    place = resources.insert(place, {std::string(name), kNoResource, kNoResource});
  return *place;
}

const Resource* find(const std::vector<Resource>& resources, std::string_view name) {
  auto found = std::find_if(resources.begin(), resources.end(), [name](const Resource& r) { return r.name == name; });
  return found == resources.end() ? nullptr : &*found;
}

// Returns a resource with the default of the API server, by which a missing request equals the limit.
Resource with_default_request(const std::vector<Resource>& resources, const std::string& name) {
  const Resource* found = find(resources, name);
  if (!found) return {name, kNoResource, kNoResource};
  return {name, found->request == kNoResource ? found->limit : found->request, found->limit};
}

// Sidecars run together with every later init container and with the pod's containers.
Resource sum_resource(const std::vector<Container>& containers, const std::string& name) {
  std::int64_t running = 0, starting = 0, running_limit = 0, starting_limit = 0;
  bool any = false, unlimited = false;
  for (const Container& container : containers) {
    if (container.kind == ContainerKind::ephemeral) continue;
    const Resource resource = with_default_request(container.resources, name);
    any = any || resource.request != kNoResource;
    unlimited = unlimited || resource.limit == kNoResource;
    const std::int64_t request = std::max<std::int64_t>(resource.request, 0),
                       limit = std::max<std::int64_t>(resource.limit, 0);
    if (container.kind == ContainerKind::init) {
      starting = std::max(starting, saturating_sum(running, request));
      starting_limit = std::max(starting_limit, saturating_sum(running_limit, limit));
    } else {
      running = saturating_sum(running, request);
      running_limit = saturating_sum(running_limit, limit);
    }
  }
  return {name, any ? std::max(running, starting) : kNoResource,
          unlimited ? kNoResource : std::max(running_limit, starting_limit)};
}

bool may_be_stated_for_a_pod(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

}  // namespace

Result<std::vector<Resource>> read_resources(const Field& field) {
  Amounts requests = TRY(field["requests"].resources());
  Amounts limits = TRY(field["limits"].resources());
  std::vector<Resource> resources;
  for (const auto& [name, amount] : limits) resources.push_back({name, kNoResource, amount});
  for (const auto& [name, amount] : requests) place_of(resources, name).request = amount;
  return resources;
}

void apply_resize(const Resize& resize, std::vector<Resource>& resources) {
  for (Resource& resource : resources) {
    const Resource* actual = find(resize.actual, resource.name);
    const auto allocated = resize.allocated.find(resource.name);
    const bool is_allocated = allocated != resize.allocated.end();
    if (resize.is_infeasible && (actual || is_allocated)) resource.request = kNoResource;
    if (actual) resource.request = std::max(resource.request, actual->request);
    if (is_allocated) resource.request = std::max(resource.request, allocated->second);
    const bool has_limits = actual && actual->limit != kNoResource && resource.limit != kNoResource;
    if (resize.is_pending && has_limits) resource.limit = actual->limit;
  }
}

std::vector<Resource> sum_resources(const std::vector<Container>& containers) {
  std::set<std::string> names;
  for (const Container& container : containers) {
    for (const Resource& resource : container.resources) names.insert(resource.name);
  }
  std::vector<Resource> sums;
  for (const std::string& name : names) sums.push_back(sum_resource(containers, name));
  return sums;
}

std::vector<Resource> pod_resources(const std::vector<Container>& containers, const std::vector<Resource>& stated,
                                    const Amounts& overhead) {
  std::vector<Resource> sums = sum_resources(containers);
  for (const Resource& whole : stated) {
    if (!may_be_stated_for_a_pod(whole.name)) continue;
    Resource& sum = place_of(sums, whole.name);
    if (whole.request != kNoResource) sum.request = whole.request;
    if (sum.request == kNoResource) sum.request = whole.limit;
    if (whole.limit != kNoResource) sum.limit = whole.limit;
  }
  for (const auto& [name, extra] : overhead) {
    Resource& sum = place_of(sums, name);
    sum.request = saturating_sum(std::max<std::int64_t>(sum.request, 0), extra);
    if (sum.limit != kNoResource) sum.limit = saturating_sum(sum.limit, extra);
  }
  return sums;
}

}  // namespace koord::state
