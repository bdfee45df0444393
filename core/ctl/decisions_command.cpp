// SPDX-License-Identifier: Apache-2.0
// koordctl decisions: the intents of strategies, evictions, changes of modes and answers of hooks, with their reasons
// and results.
#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/decision_view.hpp"

namespace koord::ctl {
namespace {

void describe_decisions(po::options_description& options) {
  const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
  options.add_options()("pod,p", text("POD"), "only decisions about this pod: its uid, NAMESPACE/NAME or NAME")(
      "cgroup", text("CGROUP"), "only decisions about this cgroup and those below it")(
      "kind", text("KIND"), "only decisions of this kind: knob, eviction, mode, hook")(
      "knob,k", text("KNOB"),
      "only decisions about this knob, as cpu.max, or this field of a hook, as linux.cpu.quota")(
      "plugin", text("ID"), "only intents of this strategy, or answers of this hook")(
      "outcome", text("RESULT"),
      "only decisions with this result, as applied, shadow, lost, failed, contested, hands_off, reverted, refused")(
      "since", text("TIME"), "only decisions from this time on: how long ago, as 10m, or Unix seconds")(
      "until", text("TIME"), "only decisions up to this time")("limit,n", text("COUNT"),
                                                               "show at most this many of the newest; default 1000")(
      "before", text("NUMBER"), "only decisions with smaller numbers: the page before");
}

std::string decisions_target_of(const Invocation& invocation) {
  std::string target = "/api/v1/decisions";
  char separator = '?';
  for (const char* name : {"pod", "cgroup", "kind", "knob", "plugin", "outcome", "since", "until", "limit", "before"}) {
    if (!invocation.has(name)) continue;
    target += separator + std::string(name) + "=" + percent_encode(invocation.text(name));
    separator = '&';
  }
  return target;
}

Result<void> run_decisions(const Invocation& invocation) {
  const std::string answer = TRY(ask_agent(invocation, decisions_target_of(invocation)));
  const std::string table = TRY(render_decisions(answer));
  invocation.out << (invocation.output == Output::json ? answer : table);
  return {};
}

}  // namespace

const Command kDecisions{"decisions", "", "List decisions on knobs, evictions, modes and hooks' fields, with result.",
                         describe_decisions, run_decisions};

}  // namespace koord::ctl
