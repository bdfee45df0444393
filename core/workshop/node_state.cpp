// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/node_state.hpp"

#include <utility>

#include "core/cgroup/kube_root.hpp"
#include "core/state/cgroup_source.hpp"
#include "core/state/hub.hpp"
#include "core/state/objects.hpp"
#include "core/state/topology.hpp"

namespace koord::workshop {
Result<void> publish_state(const StateTexts& texts, const NodeRoots& roots, const std::string& node_name, state::Hub& hub) {
  const cgroup::Layout layout = cgroup::Layout::detect(roots).value_or(cgroup::Layout());
  state::Update update;
  update.node.emplace();
  if (!texts.node.empty()) update.node = TRY(state::parse_node(texts.node));
  update.node->name = node_name;
  if (!texts.pods.empty()) update.pods = TRY(state::parse_pod_list(texts.pods, cgroup::choose_kube_root(layout)));
  if (!texts.node_slo.empty()) update.node_slo = TRY(state::parse_node_slo(texts.node_slo));
  if (auto topology = state::read_topology(roots)) update.topology = *std::move(topology);
  hub.publish(std::move(update));
  state::CgroupSource cgroups(layout, {.pods = texts.pods.empty(), .runtime = state::guess_runtime(roots)}, hub);
  // A node without a cgroup tree has no containers; that is no error of the plugin's author.
  if (Result<void> found = cgroups.refresh(); !found && hub.current()->versions.pods == 0)
    hub.publish({.pods = std::vector<state::Pod>(), .standalone = std::vector<state::Container>()});
  return {};
}

}  // namespace koord::workshop
