// SPDX-License-Identifier: Apache-2.0
#include "core/api/decision_json.hpp"

#include "core/api/json_answer.hpp"
#include "core/knob/role.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

std::string_view level_name(decision::Level level) {
  switch (level) {
    case decision::Level::qos:
      return "qos";
    case decision::Level::pod:
      return "pod";
    case decision::Level::container:
      return "container";
    case decision::Level::node:
      break;
  }
  return "node";
}

void add_subject(json::object& object, std::string_view uid, std::string_view name_space, std::string_view pod,
                 std::string_view container) {
  if (uid.empty()) return;
  object["pod"] = {{"uid", uid}, {"namespace", name_space}, {"name", pod}};
  if (!container.empty()) object["container"] = container;
}

// Adds the fields that a record and an intent have in common.
void add_proposer(json::object& object, const decision::Decision& decision) {
  object.insert({{"plugin", decision.plugin}, {"strategy", decision.strategy}});
}

void add_reason(json::object& object, const decision::Decision& decision) {
  object.insert({{"priority", decision.priority}, {"reason", decision.reason}, {"inputs", json_map(decision.inputs)}});
}

void add_result(json::object& object, const decision::Decision& decision) {
  object.insert({{"result", name_of(decision.outcome)}, {"winner", decision.winner}, {"problem", decision.problem}});
}

json::object intent(const knob::IntentView& intent, const Clock& clock) {
  const decision::Decision& decision = intent.decision;
  json::object object;
  add_proposer(object, decision);
  object.insert(
      {{"mode", to_string(intent.mode)}, {"role", knob::name_of(decision.role)}, {"wanted", decision.wanted}});
  add_reason(object, decision);
  add_result(object, decision);
  object["composition"] = decision.composition;
  if (intent.until != Time::max()) object["until"] = wall_seconds(clock, intent.until);
  if (decision.time != Time{}) object["since"] = wall_seconds(clock, decision.time);
  return object;
}

json::object part(const knob::Part& part) {
  json::object object{
      {"role", knob::name_of(part.role)}, {"plugin", part.plugin}, {"source", part.source}, {"binds", part.binds}};
  if (part.role == decision::Role::scale)
    object["factor"] = part.factor;
  else
    object["value"] = knob::spell(*part.knob, part.value);
  return object;
}

}  // namespace

json::object json_of(const decision::Decision& decision) {
  json::object object{{"number", decision.number},
                      {"kind", name_of(decision.kind)},
                      {"time", static_cast<double>(decision.wall_ns / 1'000'000) / 1e3}};
  object.reserve(22);
  add_proposer(object, decision);
  object.insert({{"cgroup", decision.cgroup_dir}, {"level", level_name(decision.level)}, {"knob", decision.knob}});
  add_reason(object, decision);
  object.insert({{"before", decision.before}, {"wanted", decision.wanted}, {"after", decision.after}});
  add_result(object, decision);
  object.insert({{"role", knob::name_of(decision.role)}, {"composition", decision.composition}});
  add_subject(object, decision.pod_uid, decision.pod_namespace, decision.pod_name, decision.container);
  return object;
}

json::object json_of(const knob::KnobView& knob, const Clock& clock) {
  json::object object{
      {"cgroup", knob.cgroup_dir}, {"level", level_name(knob.level)}, {"knob", knob.knob}, {"held", knob.is_held}};
  add_subject(object, knob.subject.pod_uid, knob.subject.pod_namespace, knob.subject.pod_name, knob.subject.container);
  if (knob.problem.empty())
    object["value"] = knob.value;
  else
    object["problem"] = knob.problem;
  if (knob.is_held) {
    object["original"] = knob.original;
    object["holder"] = knob.holder;
  }
  if (!knob.revert_problem.empty()) object["revertProblem"] = knob.revert_problem;
  if (!knob.composition.empty()) {
    json::array parts;
    for (const knob::Part& one : knob.parts) parts.push_back(part(one));
    object["composition"] = knob.composition;
    object["parts"] = std::move(parts);
  }
  json::array intents;
  for (const knob::IntentView& one : knob.intents) intents.push_back(intent(one, clock));
  object["intents"] = std::move(intents);
  return object;
}

}  // namespace koord::api
