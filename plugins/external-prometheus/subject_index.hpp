// SPDX-License-Identifier: Apache-2.0
// SubjectIndex: finds the handles of a node's pods and containers by the names that other programs use. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace koord::external_prometheus {

// Functions return 0 if the handle is unknown.
class SubjectIndex {
 public:
  void add_pod(std::uint64_t handle, std::string_view uid, std::string_view ns, std::string_view name);
  // `pod`: handle of its pod; 0: outside of pods. `id`: with or without the runtime's scheme; may be empty.
  void add_container(std::uint64_t handle, std::uint64_t pod, std::string_view name, std::string_view id);

  std::uint64_t pod_by_uid(std::string_view uid) const;
  std::uint64_t pod_by_name(std::string_view ns, std::string_view name) const;
  std::uint64_t container_by_name(std::uint64_t pod, std::string_view name) const;
  // `id`: the id itself, with its scheme, or a cgroup's path that ends with it, like cAdvisor's label "id".
  std::uint64_t container_by_id(std::string_view id) const;

 private:
  using Handles = std::unordered_map<std::string, std::uint64_t>;
  static std::uint64_t find(const Handles& handles, const std::string& key);

  Handles pods_by_uid_, pods_by_name_, containers_by_name_, containers_by_id_;
};

// Returns X for "containerd://X", "/kubepods.slice/…/cri-containerd-X.scope" and "X". Pure.
std::string_view bare_container_id(std::string_view id);

}  // namespace koord::external_prometheus
