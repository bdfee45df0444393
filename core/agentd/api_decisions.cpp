// SPDX-License-Identifier: Apache-2.0
// /api/v1/decisions: what strategies wished for which cgroup and why, what was there, and what became of it.
#include "core/agentd/json_answer.hpp"

namespace koord::agentd {
namespace {

namespace json = boost::json;

std::string_view name_of(knob::Level level) {
  switch (level) {
    case knob::Level::qos:
      return "qos";
    case knob::Level::pod:
      return "pod";
    case knob::Level::container:
      return "container";
    case knob::Level::node:
      break;
  }
  return "node";
}

json::object decision(const knob::Decision& decision, const Clock& clock) {
  return {{"number", decision.number},
          {"time", wall_seconds(clock, decision.time)},
          {"plugin", decision.plugin},
          {"strategy", decision.strategy},
          {"cgroup", decision.cgroup_dir},
          {"level", name_of(decision.level)},
          {"knob", decision.knob},
          {"priority", decision.priority},
          {"reason", decision.reason},
          {"inputs", json_map(decision.inputs)},
          {"before", decision.before},
          {"wanted", decision.wanted},
          {"after", decision.after},
          {"result", knob::name_of(decision.outcome)},
          {"winner", decision.winner},
          {"problem", decision.problem}};
}

}  // namespace

http::Response get_decisions(const ApiSources& sources, const http::Request&) {
  json::array decisions;
  for (const knob::Decision& one : sources.governor.decisions())
    decisions.push_back(decision(one, sources.services.clock));
  return json_answer({{"decisions", std::move(decisions)}});
}

}  // namespace koord::agentd
