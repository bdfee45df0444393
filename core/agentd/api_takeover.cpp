// SPDX-License-Identifier: Apache-2.0
// /api/v1/takeover/koordlet: GET lists what koordlet left on this node, POST sets it to what the specs of the pods say.
#include "core/agentd/json_answer.hpp"
#include "core/agentd/takeover_koordlet.hpp"

namespace koord::agentd {
namespace {

namespace json = boost::json;

http::Response answer_of(const Result<TakeoverReport>& report) {
  if (!report) return json_error(503, report.error().message());
  json::array lines;
  for (const TakeoverLine& line : report->lines) {
    json::object object{{"cgroup", line.cgroup_dir}, {"knob", line.knob}, {"value", line.value}, {"base", line.base}, {"why", line.why}};
    if (!line.pod.empty()) object["pod"] = line.pod;
    if (!line.container.empty()) object["container"] = line.container;
    if (!line.result.empty()) object["result"] = line.result, object["now"] = line.now;
    if (!line.problem.empty()) object["problem"] = line.problem;
    lines.push_back(std::move(object));
  }
  return json_answer({{"leftovers", std::move(lines)}, {"read", report->read}, {"held", report->held}});
}

}  // namespace

http::Response get_takeover(const ApiSources& sources, const http::Request&) {
  return sources.takeover == nullptr ? json_error(503, "nothing can be taken over here") : answer_of(sources.takeover->list());
}

void post_takeover(const ApiSources& sources, const http::Request& request, const http::Reply& reply) {
  if (sources.takeover == nullptr) return reply(json_error(503, "nothing can be taken over here"));
  const Result<TakeoverReport> report = sources.takeover->apply();
  record_change(sources, request, "takeover of koordlet's values", report ? Result<void>() : Result<void>(report.error()));
  reply(answer_of(report));
}

}  // namespace koord::agentd
