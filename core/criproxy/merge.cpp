// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/merge.hpp"

#include <algorithm>

#include "core/criproxy/cri.pb.h"

namespace koord::criproxy {
namespace {

template <class Texts>
void merge_texts(const std::map<std::string, std::string>& changes, Texts& texts) {
  for (const auto& [key, value] : changes) texts[key] = value;
}

void merge_env(const std::string& name, const std::string& value, wire::ContainerConfig& container) {
  auto& envs = *container.mutable_envs();
  const auto last = std::find_if(envs.rbegin(), envs.rend(), [&](const auto& env) { return env.key() == name; });
  wire::KeyValue& env = last == envs.rend() ? *envs.Add() : *last;
  env.set_key(name);
  env.set_value(value);
}

template <class Items>
auto& item_of_path(Items& items, const std::string& path) {
  const auto known =
      std::find_if(items.begin(), items.end(), [&](const auto& i) { return i.container_path() == path; });
  auto& item = known == items.end() ? *items.Add() : *known;
  item.set_container_path(path);
  return item;
}

// Returns the number in the answer if it differs from the request. Zero means that the answer has no number.
std::optional<std::int64_t> changed(std::int64_t sent, std::int64_t answered) {
  return answered == 0 || answered == sent ? std::nullopt : std::optional(answered);
}

std::optional<std::string> changed(const std::string& sent, const std::string& answered) {
  return answered.empty() || answered == sent ? std::nullopt : std::optional(answered);
}

template <class Sent, class Answered>
std::map<std::string, std::string> changed_texts(const Sent& sent, const Answered& answered) {
  std::map<std::string, std::string> changes;
  for (const auto& [key, value] : answered) {
    const auto known = sent.find(key);
    if (known == sent.end() || known->second != value) changes[key] = value;
  }
  return changes;
}

ResourceChanges changed_resources(const wire::Resources& sent, const wire::Resources& answered) {
  ResourceChanges changes;
  changes.cpu_period = changed(sent.cpu_period(), answered.cpu_period());
  changes.cpu_quota = changed(sent.cpu_quota(), answered.cpu_quota());
  changes.cpu_shares = changed(sent.cpu_shares(), answered.cpu_shares());
  changes.memory_limit = changed(sent.memory_limit(), answered.memory_limit());
  changes.memory_swap_limit = changed(sent.memory_swap_limit(), answered.memory_swap_limit());
  const auto adj = changed(sent.oom_score_adj(), answered.oom_score_adj());
  if (adj && *adj >= -1000 && *adj <= 1000) changes.oom_score_adj = adj;
  changes.cpuset_cpus = changed(sent.cpuset_cpus(), answered.cpuset_cpus());
  changes.cpuset_mems = changed(sent.cpuset_mems(), answered.cpuset_mems());
  changes.unified = changed_texts(sent.unified(), answered.unified());
  return changes;
}

}  // namespace

void merge(const ResourceChanges& changes, wire::Resources& resources) {
  if (changes.cpu_period) resources.set_cpu_period(*changes.cpu_period);
  if (changes.cpu_quota) resources.set_cpu_quota(*changes.cpu_quota);
  if (changes.cpu_shares) resources.set_cpu_shares(*changes.cpu_shares);
  if (changes.memory_limit) resources.set_memory_limit(*changes.memory_limit);
  if (changes.memory_swap_limit) resources.set_memory_swap_limit(*changes.memory_swap_limit);
  if (changes.oom_score_adj) resources.set_oom_score_adj(*changes.oom_score_adj);
  if (changes.cpuset_cpus) resources.set_cpuset_cpus(*changes.cpuset_cpus);
  if (changes.cpuset_mems) resources.set_cpuset_mems(*changes.cpuset_mems);
  merge_texts(changes.unified, *resources.mutable_unified());
}

void merge(const Changes& changes, wire::PodConfig& pod) {
  merge_texts(changes.labels, *pod.mutable_labels());
  merge_texts(changes.annotations, *pod.mutable_annotations());
  if (changes.cgroup_parent && !changes.cgroup_parent->empty())
    pod.mutable_linux_part()->set_cgroup_parent(*changes.cgroup_parent);
}

void merge(const Changes& changes, wire::ContainerConfig& container) {
  merge_texts(changes.labels, *container.mutable_labels());
  merge_texts(changes.annotations, *container.mutable_annotations());
  if (changes.resources != ResourceChanges{})
    merge(changes.resources, *container.mutable_linux_part()->mutable_resources());
  for (const auto& [name, value] : changes.envs) merge_env(name, value, container);
  for (const auto& [path, mount] : changes.mounts) {
    wire::Mount& item = item_of_path(*container.mutable_mounts(), path);
    item.set_host_path(mount.host_path);
    item.set_readonly(mount.readonly);
  }
  for (const auto& [path, permissions] : changes.devices) {
    wire::Device& item = item_of_path(*container.mutable_devices(), path);
    item.set_host_path(path);
    item.set_permissions(permissions);
  }
}

void merge_update(const wire::Resources& update, wire::Resources& known) {
  if (update.cpu_period() != 0) known.set_cpu_period(update.cpu_period());
  if (update.cpu_quota() != 0) known.set_cpu_quota(update.cpu_quota());
  if (update.cpu_shares() != 0) known.set_cpu_shares(update.cpu_shares());
  if (update.memory_limit() != 0) known.set_memory_limit(update.memory_limit());
  if (update.memory_swap_limit() != 0) known.set_memory_swap_limit(update.memory_swap_limit());
  if (update.oom_score_adj() != 0) known.set_oom_score_adj(update.oom_score_adj());
  if (!update.cpuset_cpus().empty()) known.set_cpuset_cpus(update.cpuset_cpus());
  if (!update.cpuset_mems().empty()) known.set_cpuset_mems(update.cpuset_mems());
  for (const auto& [key, value] : update.unified()) (*known.mutable_unified())[key] = value;
}

Changes changes_of(const wire::PodHookRequest& request, const wire::PodHookResponse& response) {
  Changes changes;
  changes.labels = changed_texts(request.labels(), response.labels());
  changes.annotations = changed_texts(request.annotations(), response.annotations());
  changes.cgroup_parent = changed(request.cgroup_parent(), response.cgroup_parent());
  return changes;
}

Changes changes_of(const wire::ContainerHookRequest& request, const wire::ContainerHookResponse& response) {
  Changes changes;
  changes.annotations = changed_texts(request.container_annotations(), response.container_annotations());
  changes.resources = changed_resources(request.container_resources(), response.container_resources());
  for (auto& env : changed_texts(request.container_envs(), response.container_envs())) changes.envs.push_back(env);
  return changes;
}

}  // namespace koord::criproxy
