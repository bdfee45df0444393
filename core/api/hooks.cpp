// SPDX-License-Identifier: Apache-2.0
// /api/v1/hooks: GET shows the connection to the container runtime, and counts the responses of runtime hooks. POST
// /api/v1/hooks/STAGE answers a question of koord-cri-proxy.
#include <algorithm>

#include "core/api/hook_source.hpp"
#include "core/api/json_answer.hpp"
#include "core/host/hook_stages.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

void add_latency(json::object& object, const Latency& latency) {
  if (latency.count() == 0) return;
  object["p50Seconds"] = latency.quantile(0.5);
  object["p99Seconds"] = latency.quantile(0.99);
}

json::object stage_json(nri::Stage stage, const nri::StageCounters& counters) {
  json::object object{{"stage", nri::to_string(stage)}, {"calls", counters.calls}, {"refused", counters.refused},
                      {"timedOut", counters.timed_out}, {"late", counters.late},   {"invalid", counters.invalid}};
  add_latency(object, counters.latency);
  return object;
}

json::object connection_json(const HookConnection& connection, const Clock& clock) {
  json::object object{{"socket", connection.socket}, {"state", connection.socket.empty() ? "off" : "unused"}};
  if (!connection.status) return object;
  const nri::Status& status = *connection.status;
  object["state"] = nri::to_string(status.state);
  object["since"] = wall_seconds(clock, connection.since);
  object["connections"] = status.connections;
  object["runtime"] = status.runtime.name;
  object["version"] = status.runtime.version;
  if (!status.runtime.nri_version.empty()) object["nriVersion"] = status.runtime.nri_version;
  object["lastError"] = status.last_error;
  json::array stages;
  for (std::size_t i = 0; i < nri::kStages; ++i)
    if (status.stages[i].calls > 0) stages.push_back(stage_json(static_cast<nri::Stage>(i), status.stages[i]));
  object["stages"] = std::move(stages);
  return object;
}

json::object proxy_json(const ProxyQuestions& proxy, const Clock& clock) {
  json::object object{{"asked", proxy.asked},       {"changed", proxy.changed}, {"unchanged", proxy.unchanged},
                      {"rejected", proxy.rejected}, {"invalid", proxy.invalid}, {"lastProblem", proxy.last_problem}};
  if (proxy.last) object["last"] = wall_seconds(clock, *proxy.last);
  return object;
}

json::object hook_json(const HookLine& line, const Clock& clock) {
  const host::HookUse& use = line.use;
  json::object object{{"plugin", use.plugin},
                      {"hook", use.name},
                      {"stage", host::name_of_stage(use.stage)},
                      {"mode", to_string(line.mode)},
                      {"running", line.is_running},
                      {"asked", use.asked},
                      {"late", use.late},
                      {"failed", use.failed},
                      {"rejected", use.rejected},
                      {"conflicts", use.conflicts}};
  add_latency(object, use.latency);
  if (use.last_error.empty()) return object;
  object["lastError"] = use.last_error;
  object["lastErrorTime"] = wall_seconds(clock, use.last_error_time);
  return object;
}

}  // namespace

void get_hooks(const ApiSources& sources, const http::Request&, const http::Reply& reply) {
  if (sources.hooks == nullptr) return reply(json_error(503, "no runtime hook is asked here"));
  sources.hooks->report([&clock = sources.services.clock, reply](const HookReport& report) {
    json::array hooks;
    for (const HookLine& line : report.hooks) hooks.push_back(hook_json(line, clock));
    reply(json_answer({{"nri", connection_json(report.connection, clock)},
                       {"proxy", proxy_json(report.proxy, clock)},
                       {"hooks", std::move(hooks)}}));
  });
}

void post_hook_question(const ApiSources& sources, const http::Request& request, const http::Reply& reply) {
  if (sources.hooks == nullptr) return reply(json_error(503, "no runtime hook is asked here"));
  const std::string name(http::part_of_path(kHookQuestionPath, request.path).value_or(""));
  const Result<std::uint32_t> stage = hook::parse_cri_stage(name);
  if (!stage) return reply(json_error(404, stage.error().message()));
  sources.hooks->answer(*stage, request.body, [reply](const Result<std::string>& answer) {
    if (!answer) return reply(json_error(400, answer.error().message()));
    reply({.content_type = std::string(http::kJson), .body = *answer + "\n"});
  });
}

}  // namespace koord::api
