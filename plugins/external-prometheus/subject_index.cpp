// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-prometheus/subject_index.hpp"

namespace koord::external_prometheus {
namespace {

// NUL separates the parts, because no name contains it.
std::string key_of(std::string_view scope, std::string_view name) {
  std::string key(scope);
  key += '\0';
  return key.append(name);
}

}  // namespace

std::string_view bare_container_id(std::string_view id) {
  if (std::size_t scheme = id.find("://"); scheme != std::string_view::npos) return id.substr(scheme + 3);
  if (std::size_t slash = id.rfind('/'); slash != std::string_view::npos) id.remove_prefix(slash + 1);
  constexpr std::string_view kScope = ".scope";
  if (!id.ends_with(kScope)) return id;
  id.remove_suffix(kScope.size());
  return id.substr(id.rfind('-') + 1);  // without '-': the whole id
}

void SubjectIndex::add_pod(std::uint64_t handle, std::string_view uid, std::string_view ns, std::string_view name) {
  pods_by_uid_.emplace(uid, handle);
  pods_by_name_.emplace(key_of(ns, name), handle);
}

void SubjectIndex::add_container(std::uint64_t handle, std::uint64_t pod, std::string_view name, std::string_view id) {
  if (pod != 0) containers_by_name_.emplace(key_of(std::to_string(pod), name), handle);
  if (!id.empty()) containers_by_id_.emplace(bare_container_id(id), handle);
}

std::uint64_t SubjectIndex::find(const Handles& handles, const std::string& key) {
  auto found = handles.find(key);
  return found == handles.end() ? 0 : found->second;
}

std::uint64_t SubjectIndex::pod_by_uid(std::string_view uid) const { return find(pods_by_uid_, std::string(uid)); }

std::uint64_t SubjectIndex::pod_by_name(std::string_view ns, std::string_view name) const {
  return find(pods_by_name_, key_of(ns, name));
}

std::uint64_t SubjectIndex::container_by_name(std::uint64_t pod, std::string_view name) const {
  return find(containers_by_name_, key_of(std::to_string(pod), name));
}

std::uint64_t SubjectIndex::container_by_id(std::string_view id) const {
  return find(containers_by_id_, std::string(bare_container_id(id)));
}

}  // namespace koord::external_prometheus
