// SPDX-License-Identifier: Apache-2.0
#include "core/api/pods_named.hpp"

#include "core/api/api.hpp"

namespace koord::api {

std::vector<const state::Pod*> pods_named(const state::Snapshot& snapshot, std::string_view title) {
  std::vector<const state::Pod*> found;
  for (const state::Pod& pod : snapshot.pods)
    if (pod.uid == title || pod.name == title || state::full_name(pod) == title) found.push_back(&pod);
  return found;
}

std::string no_pod_named(std::string_view title) {
  return "no pod '" + std::string(title) + "' on this node; expected NAMESPACE/NAME, NAME or uid";
}

std::string several_pods_named(std::string_view title, const std::vector<const state::Pod*>& pods) {
  std::string names;
  for (const state::Pod* pod : pods) names += " " + state::full_name(*pod);
  return "several pods are named '" + std::string(title) + "':" + names;
}

std::optional<std::string> why_pods_unknown(const ApiSources& sources) {
  if (sources.services.hub.confirmed(state::kPods)) return std::nullopt;
  const std::string start = std::string(kPodsUnknown) + ": ";
  for (const ModuleHealth& module : sources.health())
    if (module.name == "state" && module.detail.starts_with(start)) return module.detail.substr(start.size());
  return "";
}

std::string pods_unknown_because(const std::string& reason) {
  return std::string(kPodsUnknown) + (reason.empty() ? "" : ": " + reason);
}

}  // namespace koord::api
