// SPDX-License-Identifier: Apache-2.0
// koordctl pods and koordctl node: what the agent knows, from whom, and how old it is.
#include "core/ctl/command.hpp"
#include "core/ctl/state_view.hpp"

namespace koord::ctl {
namespace {


Result<void> print_state(const Invocation& invocation, const std::string& target, Result<std::string> (*text)(const std::string&)) {
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

const Command kPods{"pods", "", "The pods of this node, who said so, and how long ago.", no_options, run_pods};
const Command kNode{"node", "", "What is known of this node and of its kubelet, and how old that is.", no_options, run_node};

}  // namespace koord::ctl
