// SPDX-License-Identifier: Apache-2.0
// koordctl pods and koordctl node: the agent's state, its sources and its age.
#include "core/ctl/command.hpp"
#include "core/ctl/state_view.hpp"

namespace koord::ctl {
namespace {

Result<void> print_state(const Invocation& invocation, const std::string& target,
                         Result<std::string> (*text)(const std::string&)) {
  const std::string answer = TRY(ask_agent(invocation, target));
  if (invocation.output == Output::json) {
    invocation.out << answer;
    return {};
  }
  invocation.out << TRY(text(answer));
  return {};
}

Result<void> run_pods(const Invocation& invocation) { return print_state(invocation, "/api/v1/pods", pods_text); }
Result<void> run_node(const Invocation& invocation) { return print_state(invocation, "/api/v1/node", node_text); }

}  // namespace

const Command kPods{"pods", "", "List the pods of this node, with source and age of the list.", no_options, run_pods};
const Command kNode{"node", "", "Show this node and its kubelet, with the age of each part.", no_options, run_node};

}  // namespace koord::ctl
