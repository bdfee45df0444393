// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/pods_named.hpp"

namespace koord::agentd {

std::vector<const state::Pod*> pods_named(const state::Snapshot& snapshot, std::string_view title) {
  std::vector<const state::Pod*> found;
  for (const state::Pod& pod : snapshot.pods)
    if (pod.uid == title || pod.name == title || pod.namespace_ + '/' + pod.name == title) found.push_back(&pod);
  return found;
}

std::string no_pod_named(std::string_view title) {
  return "no pod '" + std::string(title) + "' on this node; expected NAMESPACE/NAME, NAME or uid";
}

std::string several_pods_named(std::string_view title, const std::vector<const state::Pod*>& pods) {
  std::string names;
  for (const state::Pod* pod : pods) names += " " + pod->namespace_ + '/' + pod->name;
  return "several pods are named '" + std::string(title) + "':" + names;
}

}  // namespace koord::agentd
