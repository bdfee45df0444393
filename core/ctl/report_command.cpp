// SPDX-License-Identifier: Apache-2.0
// koordctl report: the objects about this node in the API server, and the state of the writes. The JSON output includes
// the objects.
#include "core/ctl/command.hpp"
#include "core/ctl/report_view.hpp"

namespace koord::ctl {
namespace {

Result<void> run_report(const Invocation& invocation) {
  const std::string answer = TRY(ask_agent(invocation, "/api/v1/report"));
  const std::string tables = TRY(render_report(answer));
  invocation.out << (invocation.output == Output::json ? answer : tables);
  return {};
}

}  // namespace

const Command kReport{"report", "",
                      "Show what the agent reports to the API server, computed now, and whether its writes succeed.",
                      no_options, run_report};

}  // namespace koord::ctl
