// SPDX-License-Identifier: Apache-2.0
// SubjectIndex: the handles of a node's pods and containers by the names that other programs know them by. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace koord::external_prometheus {

// For an unknown handle: 0.
class SubjectIndex {
 public:
  void add_pod(std::uint64_t handle, std::string_view uid, std::string_view ns, std::string_view name);
  // `pod`: its handle; 0: it belongs to none. `id` with or without the runtime's scheme; may be empty.
  void add_container(std::uint64_t handle, std::uint64_t pod, std::string_view name, std::string_view id);

  std::uint64_t pod_by_uid(std::string_view uid) const;
  std::uint64_t pod_by_name(std::string_view ns, std::string_view name) const;
  std::uint64_t container_by_name(std::uint64_t pod, std::string_view name) const;
  // The id itself, with its scheme, or a cgroup's path that ends in it, as cAdvisor's label "id" has it.
  std::uint64_t container_by_id(std::string_view id) const;

 private:
  using Handles = std::unordered_map<std::string, std::uint64_t>;
  static std::uint64_t find(const Handles& handles, const std::string& key);

  Handles pods_by_uid_, pods_by_name_, containers_by_name_, containers_by_id_;
};

// "containerd://X", "/kubepods.slice/…/cri-containerd-X.scope", "X": X. Pure.
std::string_view bare_container_id(std::string_view id);

}  // namespace koord::external_prometheus
