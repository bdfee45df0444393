// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/decision_json.hpp"

#include "core/agentd/json_answer.hpp"
#include "core/knob/role.hpp"

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

void add_subject(json::object& object, std::string_view uid, std::string_view name_space, std::string_view pod, std::string_view container) {
  if (uid.empty()) return;
  object["pod"] = {{"uid", uid}, {"namespace", name_space}, {"name", pod}};
  if (!container.empty()) object["container"] = container;
}

json::object wish(const knob::WishView& wish, const Clock& clock) {
  json::object object{{"plugin", wish.plugin},
                      {"strategy", wish.strategy},
                      {"mode", knob::name_of(wish.mode)},
                      {"role", knob::name_of(wish.role)},
                      {"wanted", wish.wanted},
                      {"priority", wish.priority},
                      {"reason", wish.reason},
                      {"inputs", json_map(wish.inputs)},
                      {"result", knob::name_of(wish.outcome)},
                      {"winner", wish.winner},
                      {"problem", wish.problem},
                      {"composition", wish.composition}};
  if (wish.until != Time::max()) object["until"] = wall_seconds(clock, wish.until);
  if (wish.since != Time{}) object["since"] = wall_seconds(clock, wish.since);
  return object;
}

json::object part(const knob::Part& part) {
  json::object object{{"role", knob::name_of(part.role)}, {"plugin", part.plugin}, {"source", part.source}, {"binds", part.binds}};
  if (part.role == knob::Role::scale)
    object["factor"] = part.factor;
  else
    object["value"] = knob::spell(*part.knob, part.value);
  return object;
}

}  // namespace

json::object json_of(const knob::Decision& decision) {
  json::object object{{"number", decision.number},
                      {"time", static_cast<double>(decision.wall_ns / 1'000'000) / 1e3},
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
                      {"problem", decision.problem},
                      {"role", knob::name_of(decision.role)},
                      {"composition", decision.composition}};
  add_subject(object, decision.pod_uid, decision.pod_namespace, decision.pod_name, decision.container);
  return object;
}

json::object json_of(const knob::KnobView& knob, const Clock& clock) {
  json::object object{{"cgroup", knob.cgroup_dir}, {"level", name_of(knob.level)}, {"knob", knob.knob}, {"held", knob.is_held}};
  add_subject(object, knob.subject.pod_uid, knob.subject.pod_namespace, knob.subject.pod_name, knob.subject.container);
  if (knob.problem.empty())
    object["value"] = knob.value;
  else
    object["problem"] = knob.problem;
  if (knob.is_held) {
    object["original"] = knob.original;
    object["holder"] = knob.holder;
  }
  if (!knob.composition.empty()) {
    json::array parts;
    for (const knob::Part& one : knob.parts) parts.push_back(part(one));
    object["composition"] = knob.composition;
    object["parts"] = std::move(parts);
  }
  json::array wishes;
  for (const knob::WishView& one : knob.wishes) wishes.push_back(wish(one, clock));
  object["wishes"] = std::move(wishes);
  return object;
}

}  // namespace koord::agentd
