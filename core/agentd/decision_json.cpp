// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/decision_json.hpp"

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

void add_subject(json::object& object, std::string_view uid, std::string_view name_space, std::string_view pod, std::string_view container) {
  if (uid.empty()) return;
  object["pod"] = {{"uid", uid}, {"namespace", name_space}, {"name", pod}};
  if (!container.empty()) object["container"] = container;
}

json::object wish(const knob::WishView& wish, const Clock& clock) {
  json::object object{{"plugin", wish.plugin},
                      {"strategy", wish.strategy},
                      {"mode", knob::name_of(wish.mode)},
                      {"wanted", wish.wanted},
                      {"priority", wish.priority},
                      {"reason", wish.reason},
                      {"inputs", json_map(wish.inputs)},
                      {"result", knob::name_of(wish.outcome)},
                      {"winner", wish.winner},
                      {"problem", wish.problem}};
  if (wish.until != Time::max()) object["until"] = wall_seconds(clock, wish.until);
  if (wish.since != Time{}) object["since"] = wall_seconds(clock, wish.since);
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
                      {"problem", decision.problem}};
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
  json::array wishes;
  for (const knob::WishView& one : knob.wishes) wishes.push_back(wish(one, clock));
  object["wishes"] = std::move(wishes);
  return object;
}

}  // namespace koord::agentd
