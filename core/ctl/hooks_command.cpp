// SPDX-License-Identifier: Apache-2.0
// koordctl hooks: the runtime hooks, the programs that call them, and counts of their answers.
#include "core/ctl/command.hpp"
#include "core/ctl/hooks_view.hpp"

namespace koord::ctl {
namespace {

Result<void> run_hooks(const Invocation& invocation) {
  const std::string answer = TRY(ask_agent(invocation, "/api/v1/hooks"));
  const std::string tables = TRY(render_hooks(answer));
  invocation.out << (invocation.output == Output::json ? answer : tables);
  return {};
}

}  // namespace

const Command kHooks{"hooks", "", "Show runtime hooks: connection to the runtime, answers, latencies and errors.",
                     no_options, run_hooks};

}  // namespace koord::ctl
