// SPDX-License-Identifier: Apache-2.0
// koordctl takeover koordlet: sets values that koordlet left in cgroups and resctrl to the values that follow from the
// pods' specs.
#include "core/ctl/command.hpp"
#include "core/ctl/takeover_view.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kTakeoverTarget = "/api/v1/takeover/koordlet";

void describe_takeover(po::options_description& options) {
  options.add_options()("dry-run", "list the values that differ from their base, and write nothing");
}

Result<void> run_takeover(const Invocation& invocation) {
  const bool is_dry_run = invocation.has("dry-run");
  const std::string answer =
      TRY(is_dry_run ? ask_agent(invocation, kTakeoverTarget) : post_to_agent(invocation, kTakeoverTarget));
  const std::string text = TRY(render_takeover(answer, is_dry_run));
  invocation.out << (invocation.output == Output::json ? answer : text);
  return takeover_result(answer, is_dry_run);
}

}  // namespace

const Command kTakeoverKoordlet{
    "takeover koordlet", "",
    "Set values that koordlet left in cgroups and resctrl to their base, without undo; list them first with --dry-run.",
    describe_takeover, run_takeover};

}  // namespace koord::ctl
