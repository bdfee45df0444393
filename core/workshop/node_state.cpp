// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/node_state.hpp"

#include <utility>

#include "core/cgroup/kube_root.hpp"
#include "core/state/cgroup_source.hpp"
#include "core/state/hub.hpp"
#include "core/state/named_cgroups.hpp"
#include "core/state/objects.hpp"
#include "core/state/slo.hpp"
#include "core/state/topology.hpp"

namespace koord::workshop {
namespace {

// Reads the NodeSLO like an agent. But invalid parts are an error, where an agent ignores them, because the author
// reads the error immediately.
Result<void> take_node_slo(const std::string& text, state::Update& update) {
  state::Update slo = TRY(state::slo_update(text));
  state::EffectiveSlo effective = TRY(state::effective_slo(*slo.received_slo));
  if (!effective.problems.empty()) return invalid("NodeSLO: " + state::text_of(effective.problems.front()));
  update.node_slo = std::move(slo.node_slo);
  update.received_slo = std::move(slo.received_slo);
  return {};
}

}  // namespace

Result<void> publish_state(const StateTexts& texts, const NodeRoots& roots, const std::string& node_name,
                           state::Hub& hub) {
  const cgroup::Layout layout = cgroup::Layout::detect(roots).value_or(cgroup::Layout());
  state::Update update;
  update.node.emplace();
  if (!texts.node.empty()) update.node = TRY(state::parse_node(texts.node));
  update.node->name = node_name;
  if (!texts.pods.empty()) {
    update.pods = TRY(state::parse_pod_list(texts.pods, cgroup::choose_kube_root(layout)));
    TRY(state::take_named_cgroups(*update.pods));
  }
  if (!texts.node_slo.empty()) TRY(take_node_slo(texts.node_slo, update));
  if (auto topology = state::read_topology(roots)) update.topology = *std::move(topology);
  hub.publish(std::move(update));
  state::CgroupSource cgroups(layout, {.pods = texts.pods.empty(), .runtime = state::guess_runtime(roots)}, hub);
  // A node without a cgroup tree has no containers. That is not an error.
  if (Result<void> found = cgroups.refresh(); !found && hub.current()->versions.pods == 0)
    hub.publish({.pods = std::vector<state::Pod>(), .standalone = std::vector<state::Container>()});
  return {};
}

}  // namespace koord::workshop
