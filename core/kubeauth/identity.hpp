// SPDX-License-Identifier: Apache-2.0
// Identity: the user that a request comes from, as the API server or a client certificate names it. Access: the action
// that the request asks for, in the words of RBAC. Plain values. [any thread]
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::kubeauth {

// A group of every user with accepted credentials.
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kMastersGroup = "system:masters";
// In the token of a pod: the node that the pod is bound to (Kubernetes 1.29 and later).
inline constexpr std::string_view kNodeNameExtra = "authentication.kubernetes.io/node-name";
inline constexpr std::string_view kNodeUidExtra = "authentication.kubernetes.io/node-uid";
inline constexpr std::string_view kPodNameExtra = "authentication.kubernetes.io/pod-name";

struct Identity {
  std::string user = {};  // "system:serviceaccount:monitoring:prometheus"
  std::string uid = {};   // may be empty
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>, std::less<>> extra = {};

  bool in_group(std::string_view group) const { return std::find(groups.begin(), groups.end(), group) != groups.end(); }
  // Returns the value if there is exactly one.
  std::optional<std::string_view> only_extra(std::string_view key) const {
    const auto found = extra.find(key);
    if (found == extra.end() || found->second.size() != 1) return std::nullopt;
    return found->second.front();
  }
  std::optional<std::string_view> node_name() const { return only_extra(kNodeNameExtra); }

  bool operator==(const Identity&) const = default;
};

// Either a path or a resource.
struct Access {
  std::string verb = "get";
  std::string path = {};  // "/metrics": outside of resources; else empty
  // A resource; an empty name is all names.
  std::string group = {}, version = {}, resource = {}, subresource = {}, name = {}, name_space = {};

  bool operator==(const Access&) const = default;
};

// "get /metrics", "update nodemetrics.metrics.koordetector.sh/status 'node-1'"
std::string describe(const Access& access);

}  // namespace koord::kubeauth
