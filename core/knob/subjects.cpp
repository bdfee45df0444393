// SPDX-License-Identifier: Apache-2.0
#include "core/knob/subjects.hpp"

#include <algorithm>

namespace koord::knob {

bool covers(const decision::HandsOff& hands_off, const Knob& knob, std::string_view plugin) {
  return hands_off.all || std::any_of(hands_off.names.begin(), hands_off.names.end(), [&](const std::string& name) {
           if (name == plugin || name == knob.name) return true;
           const Knob* named = find_knob(name);
           return named != nullptr && named->resource == knob.resource;
         });
}

std::vector<std::string> unknown_names(const decision::HandsOff& hands_off, const std::vector<std::string>& plugins) {
  std::vector<std::string> unknown;
  for (const std::string& name : hands_off.names)
    if (find_knob(name) == nullptr && std::find(plugins.begin(), plugins.end(), name) == plugins.end())
      unknown.push_back(name);
  return unknown;
}

void Subjects::add(std::string cgroup_dir, Subject subject) {
  if (subject.has_own_cpus && !subject.container.empty()) pinned_.insert(cgroup_dir);
  if (subject.hands_off != decision::HandsOff{}) hands_off_.try_emplace(cgroup_dir, subject.hands_off);
  subjects_.emplace(std::move(cgroup_dir), std::move(subject));
}

const Subject* Subjects::of(std::string_view cgroup_dir) const {
  while (!cgroup_dir.empty()) {
    if (auto found = subjects_.find(cgroup_dir); found != subjects_.end()) return &found->second;
    const std::size_t slash = cgroup_dir.rfind('/');
    cgroup_dir = slash == std::string_view::npos ? std::string_view() : cgroup_dir.substr(0, slash);
  }
  return nullptr;
}

const Subject* Subjects::at(std::string_view cgroup_dir) const {
  const auto found = subjects_.find(cgroup_dir);
  return found == subjects_.end() ? nullptr : &found->second;
}

std::string_view Subjects::pod_of(std::string_view cgroup_dir) const {
  const Subject* subject = at(cgroup_dir);
  if (subject == nullptr || subject->container.empty()) return {};
  for (std::size_t slash = cgroup_dir.rfind('/'); slash != std::string_view::npos; slash = cgroup_dir.rfind('/')) {
    cgroup_dir = cgroup_dir.substr(0, slash);
    const Subject* around = at(cgroup_dir);
    if (around != nullptr && around->container.empty() && around->pod_uid == subject->pod_uid) return cgroup_dir;
  }
  return {};
}

}  // namespace koord::knob
