// SPDX-License-Identifier: Apache-2.0
// /api/v1/events: what plugins and the host saw or did that somebody will ask for.
#include "core/agentd/json_answer.hpp"

namespace koord::agentd {

namespace json = boost::json;

http::Response get_events(const ApiSources& sources, const http::Request&) {
  json::array events;
  for (const host::Event& event : sources.services.events.events())
    events.push_back({{"number", event.number},
                      {"time", wall_seconds(sources.services.clock, event.time)},
                      {"plugin", event.plugin},
                      {"subject", json_map(event.subject)},
                      {"what", event.what},
                      {"why", event.why}});
  return json_answer({{"events", std::move(events)}});
}

}  // namespace koord::agentd
