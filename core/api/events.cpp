// SPDX-License-Identifier: Apache-2.0
// /api/v1/events: observations and actions of plugins and the host.
#include "core/api/json_answer.hpp"
#include "core/api/operator_access.hpp"
#include "core/log/log.hpp"

namespace koord::api {

namespace {

namespace json = boost::json;

constexpr log::Category operations_log{"api"};

}  // namespace

void record_change(const ApiSources& sources, const http::Request& request, const std::string& what,
                   const Result<void>& result) {
  const std::string by = "by " + operator_name(request);
  const std::string why = result ? by : by + ", refused: " + result.error().message();
  sources.services.events.add(
      {.time = sources.services.clock.now(), .plugin = {}, .subject = {}, .what = what, .why = why});
  log::info(operations_log, "{} {}", what, why);
}

http::Response get_events(const ApiSources& sources, const http::Request&) {
  json::array events;
  for (const service::Event& event : sources.services.events.events())
    events.push_back({{"number", event.number},
                      {"time", wall_seconds(sources.services.clock, event.time)},
                      {"plugin", event.plugin},
                      {"subject", json_map(event.subject)},
                      {"what", event.what},
                      {"why", event.why}});
  return json_answer({{"events", std::move(events)}});
}

}  // namespace koord::api
