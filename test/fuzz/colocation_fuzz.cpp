// SPDX-License-Identifier: Apache-2.0
// The inputs of batch resources, with any content: the settings, a node's annotations and labels, a NodeMetric, a Pod,
// a Node. Grants must not exceed the node's resources.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/manager/batch_resources.hpp"
#include "core/manager/node_facts.hpp"
#include "core/manager/write_bounds.hpp"
#include "core/state/objects.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::manager;

namespace {

void check_pod(const std::string& text) {
  const Result<PodFacts> pod = parse_pod_facts(text);
  (void)from_line("s/p", text);
  if (!pod || pod->node.find(' ') != std::string::npos) return;
  const Result<PodFacts> again = from_line(pod->name, to_line(*pod));
  check(again && *again == *pod);
}

void check_grants(const Colocation& colocation, const std::string& text) {
  const NodeUsage usage = parse_node_usage(text).value_or({});
  Result<state::Node> node = state::parse_node(trim_node(text));
  if (!node) node = state::Node();
  node->annotations["node.koordinator.sh/reservation"] = text;
  node->annotations["node.koordinator.sh/cpu-normalization-ratio"] = text;
  std::vector<std::string> problems;
  const NodeSize size = node_size(*node, problems);
  const Demand demand = demand_of({}, usage);
  for (const CpuMemory& granted :
       {batch_resources(size, colocation, demand, usage), mid_resources(size, colocation, demand, usage)})
    check(granted.cpu >= 0 && granted.memory >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ColocationSettings settings;
  const bool taken = settings.take(text).empty();
  const NodeColocation plain = settings.of_node({}, {});
  check(taken || plain.settings == Colocation());
  const NodeColocation node = settings.of_node({{"node.koordinator.sh/cpu-reclaim-ratio", text}, {"a", "b"}},
                                               {{"node.koordinator.sh/colocation-strategy", text}});
  check(!node_metric_spec(node.settings).empty());
  check_grants(node.settings, text);
  check_pod(text);
  (void)last_manager_of(text, "koord-manager");
  return 0;
}
