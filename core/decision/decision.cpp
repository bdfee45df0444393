// SPDX-License-Identifier: Apache-2.0
#include "core/decision/decision.hpp"

#include "core/base/path.hpp"

namespace koord::decision {
namespace {

bool is_pod(const Decision& decision, std::string_view pod) {
  return decision.pod_uid == pod || decision.pod_name == pod || decision.pod_namespace + "/" + decision.pod_name == pod;
}

}  // namespace

std::string_view name_of(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::knob:
      return "knob";
    case DecisionKind::eviction:
      return "eviction";
    case DecisionKind::hook:
      return "hook";
    case DecisionKind::mode:
      break;
  }
  return "mode";
}

Result<DecisionKind> parse_decision_kind(std::string_view text) {
  for (const DecisionKind kind : {DecisionKind::knob, DecisionKind::eviction, DecisionKind::mode, DecisionKind::hook})
    if (name_of(kind) == text) return kind;
  return invalid("'" + std::string(text) + "' is not a kind of decision, expected one of knob, eviction, mode, hook");
}

bool matches(const DecisionQuery& query, const Decision& decision) {
  return decision.number < query.before && decision.wall_ns >= query.since_ns && decision.wall_ns <= query.until_ns &&
         (query.pod.empty() || is_pod(decision, query.pod)) && (!query.kind || decision.kind == *query.kind) &&
         (query.cgroup.empty() || is_at_or_below(decision.cgroup_dir, query.cgroup)) &&
         (query.knob.empty() || decision.knob == query.knob) &&
         (query.plugin.empty() || decision.plugin == query.plugin) &&
         (!query.outcome || decision.outcome == *query.outcome);
}

}  // namespace koord::decision
