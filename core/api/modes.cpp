// SPDX-License-Identifier: Apache-2.0
// /api/v1/modes: which strategies and runtime hooks may write, the source of the mode, and its end.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/decision_request.hpp"
#include "core/api/json_answer.hpp"
#include "core/api/operator_access.hpp"
#include "core/base/parse.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

bool has_mode(std::string_view kind) { return kind == "koord.qos-strategy/1" || kind == "koord.runtime-hook/1"; }

// Returns the states of strategies and hooks, by plugin.
std::map<std::string, std::string_view> strategies(const ApiSources& sources) {
  std::map<std::string, std::string_view> states;
  for (const host::PluginStatus& plugin : sources.plugins())
    for (const std::string& kind : plugin.kinds)
      if (has_mode(kind)) states.emplace(plugin.id, to_string(plugin.state));
  return states;
}

json::object mode_of(const ApiSources& sources, std::string_view target) {
  const decision::Modes::View view = sources.governor.mode_view(target);
  json::object object{{"target", target}, {"mode", to_string(view.mode)}};
  if (view.configured) object["configured"] = to_string(*view.configured);
  if (!view.override_mode) return object;
  object["override"] = to_string(view.override_mode->mode);
  if (view.override_mode->until != Time::max())
    object["until"] = wall_seconds(sources.services.clock, view.override_mode->until);
  object["by"] = view.override_mode->by;
  return object;
}

json::array modes_of(const ApiSources& sources) {
  json::array modes{mode_of(sources, decision::kNodeTarget)};
  for (const auto& [id, state] : strategies(sources)) {
    json::object mode = mode_of(sources, id);
    mode["state"] = state;
    modes.push_back(std::move(mode));
  }
  return modes;
}

Result<void> check_target(const ApiSources& sources, const std::string& target) {
  std::vector<std::string> known{std::string(decision::kNodeTarget)};
  for (const auto& [id, state] : strategies(sources)) known.push_back(id);
  for (const std::string& one : known)
    if (one == target) return {};
  const std::string near = nearest(target, known);
  return invalid("'" + target + "' is neither a strategy nor a runtime hook here" +
                 (near.empty() ? ", expected 'node' or one of 'koordctl mode'" : ", did you mean '" + near + "'?"));
}

}  // namespace

http::Response get_modes(const ApiSources& sources, const http::Request&) {
  json::object answer{{"modes", modes_of(sources)}};
  // The capability is broken while the brake stops evictions, or while the API server accepts no evictions.
  const std::optional<service::Capability> evictions = sources.services.capabilities.find("eviction");
  if (evictions && evictions->state == service::CapabilityState::broken) answer["evictions"] = evictions->detail;
  return json_answer(answer);
}

void post_mode(const ApiSources& sources, const http::Request& request, const http::Reply& reply) {
  const std::string target(http::part_of_path(kModePath, request.path).value_or(""));
  if (Result<void> known = check_target(sources, target); !known)
    return reply(json_error(404, known.error().message()));
  const Result<ModeRequest> asked = parse_mode_request(request.query);
  if (!asked) return reply(json_error(400, asked.error().message()));
  const std::string by = operator_name(request);
  const Result<void> done = asked->mode ? sources.governor.override_mode(target, *asked->mode, asked->how_long, by)
                                        : sources.governor.end_override(target, by);
  const std::string mode =
      asked->mode ? std::string(to_string(*asked->mode)) + " for " + format_duration(asked->how_long) : "as configured";
  record_change(sources, request, "mode of " + target + ": " + mode, done);
  if (!done) return reply(json_error(400, done.error().message()));
  reply(json_answer(mode_of(sources, target)));
}

}  // namespace koord::api
