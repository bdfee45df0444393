// SPDX-License-Identifier: Apache-2.0
#include "core/hook/unadjusted_values.hpp"

#include <algorithm>

namespace koord::hook {
namespace {

const state::Container* container_named(const state::Pod& pod, const std::string& name) {
  const auto found = std::find_if(pod.containers.begin(), pod.containers.end(),
                                  [&](const state::Container& one) { return one.name == name; });
  return found == pod.containers.end() ? nullptr : &*found;
}

}  // namespace

void UnadjustedValues::remember(const state::Pod& pod, const std::string& container, std::vector<Unadjusted> values,
                                Time time) {
  const state::Container* before = container_named(pod, container);
  const std::lock_guard lock(mutex_);
  const Key key{pod.uid, container};
  if (values.empty()) {
    waiting_.erase(key);
    return;
  }
  waiting_[key] = {std::move(values), before == nullptr ? std::string() : before->id, time};
  if (waiting_.size() > kMostContainers) forget_oldest();
}

void UnadjustedValues::forget_oldest() {
  waiting_.erase(std::min_element(waiting_.begin(), waiting_.end(),
                                  [](const auto& a, const auto& b) { return a.second.time < b.second.time; }));
}

std::vector<UnadjustedValues::Adjusted> UnadjustedValues::take(const state::Snapshot& snapshot, Time time) {
  std::vector<Adjusted> taken;
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return taken;
  for (const state::Pod& pod : snapshot.pods) {
    for (const state::Container& container : pod.containers) {
      const auto found = waiting_.find({pod.uid, container.name});
      if (found == waiting_.end() || container.cgroup_dir.empty() || container.id == found->second.last_id) continue;
      Adjusted adjusted;
      for (Unadjusted& one : found->second.values)
        adjusted.push_back({.level = decision::Level::container,
                            .knob = std::move(one.knob),
                            .cgroup_dir = container.cgroup_dir,
                            .before = std::move(one.value),
                            .plugin = std::move(one.plugin)});
      taken.push_back(std::move(adjusted));
      waiting_.erase(found);
    }
  }
  std::erase_if(waiting_, [&](const auto& one) { return time - one.second.time > kPatience; });
  return taken;
}

}  // namespace koord::hook
