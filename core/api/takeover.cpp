// SPDX-License-Identifier: Apache-2.0
// /api/v1/takeover/koordlet: GET lists values that koordlet left on this node. POST sets them to the values that follow
// from the pods' specs.
#include "core/api/json_answer.hpp"
#include "core/api/pods_named.hpp"
#include "core/api/takeover_source.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

http::Response answer_of(const ApiSources& sources, const TakeoverReport& report) {
  json::array lines;
  for (const TakeoverLine& line : report.lines) {
    json::object object{{"cgroup", line.cgroup_dir},
                        {"knob", line.knob},
                        {"value", line.value},
                        {"base", line.base},
                        {"why", line.why}};
    if (!line.pod.empty()) object["pod"] = line.pod;
    if (!line.container.empty()) object["container"] = line.container;
    if (!line.result.empty()) object["result"] = line.result, object["now"] = line.now;
    if (!line.problem.empty()) object["problem"] = line.problem;
    lines.push_back(std::move(object));
  }
  json::object answer{{"leftovers", std::move(lines)},
                      {"read", report.read},
                      {"held", report.held},
                      {"podsKnown", report.are_pods_known}};
  if (!report.are_pods_known) answer["podsProblem"] = why_pods_unknown(sources).value_or("");
  if (report.pods_without_spec > 0)
    answer["podsWithoutSpec"] = report.pods_without_spec, answer["podSource"] = sources.pod_source;
  return json_answer(answer);
}

}  // namespace

http::Response get_takeover(const ApiSources& sources, const http::Request&) {
  return sources.takeover == nullptr ? json_error(503, "nothing can be taken over here")
                                     : answer_of(sources, sources.takeover->list());
}

void post_takeover(const ApiSources& sources, const http::Request& request, const http::Reply& reply) {
  if (sources.takeover == nullptr) return reply(json_error(503, "nothing can be taken over here"));
  const TakeoverReport report = sources.takeover->apply();
  const char* const part = report.are_pods_known ? "" : ", of classes only: pods are not known yet";
  record_change(sources, request, std::string("takeover of koordlet's values") + part);
  reply(answer_of(sources, report));
}

}  // namespace koord::api
