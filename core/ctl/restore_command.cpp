// SPDX-License-Identifier: Apache-2.0
// koordctl restore: reverts all knobs of this node, and stops all strategies from writing until an operator allows it.
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

Result<void> run_restore(const Invocation& invocation) {
  Result<std::string> answered = post_to_agent(invocation, "/api/v1/restore");
  if (!answered) return std::move(answered).error().context("`koordetector restore` reverts knobs when no agent runs");
  const json::value answer = TRY(parse_object(*answered));
  std::size_t failed = 0, knobs = 0;
  Table table({{"CGROUP"}, {"KNOB"}, {"BEFORE"}, {"NOW"}, {"RESULT"}, {"PROBLEM"}});
  for (const json::value& knob : json_list(answer, "knobs")) {
    const std::string item = json_text(knob, "item"), result = json_text(knob, "result");
    ++knobs;
    failed += result == "failed";
    table.add({json_text(knob, "cgroup"), json_text(knob, "knob") + (item.empty() ? "" : " " + item),
               json_text(knob, "before"), json_text(knob, "after"), result, json_text(knob, "problem")});
  }
  if (invocation.output == Output::json)
    invocation.out << *answered;
  else
    invocation.out << table.render()
                   << "No strategy writes until `koordctl mode node configured`, or a restart of the agent.\n";
  if (failed == 0) return {};
  return invalid(std::to_string(failed) + " of " + std::to_string(knobs) +
                 " knobs could not be reverted; retrying each second");
}

}  // namespace

const Command kRestore{
    "restore", "",
    "Revert all knobs to their originals; no strategy writes until `koordctl mode node configured`, or a restart of the agent.",
    no_options, run_restore};

}  // namespace koord::ctl
