// SPDX-License-Identifier: Apache-2.0
#include "core/api/decision_request.hpp"

#include <algorithm>
#include <iterator>

#include "core/api/request_parts.hpp"
#include "core/base/parse.hpp"
#include "core/knob/knob.hpp"

namespace koord::api {
namespace {

// Returns whether the text is a hook's field, which records of hooks have instead of a knob.
bool is_hook_field(std::string_view text) {
  constexpr std::string_view kPrefixes[] = {"linux.", "env:", "annotation:", "device:", "mount:"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

}  // namespace

Result<decision::DecisionQuery> parse_decision_request(const http::Query& parameters, const Clock& clock) {
  TRY(check_names(parameters,
                  {"since", "until", "pod", "cgroup", "kind", "knob", "plugin", "outcome", "before", "limit"}));
  decision::DecisionQuery query;
  if (auto text = parameters.get("since")) query.since_ns = TRY(parse_moment("since", *text, clock));
  if (auto text = parameters.get("until")) query.until_ns = TRY(parse_moment("until", *text, clock));
  query.pod = parameters.get("pod").value_or("");
  query.cgroup = parameters.get("cgroup").value_or("");
  if (auto text = parameters.get("kind")) query.kind = TRY(decision::parse_decision_kind(*text));
  if (auto text = parameters.get("knob"))
    query.knob = is_hook_field(*text) ? *text : std::string_view(TRY(knob::knob_named(*text))->name);
  query.plugin = parameters.get("plugin").value_or("");
  if (auto text = parameters.get("outcome")) query.outcome = TRY(decision::parse_outcome(*text));
  if (auto text = parameters.get("before")) query.before = TRY(parse_count("before", *text, query.before));
  if (auto text = parameters.get("limit"))
    query.limit = TRY(parse_count("limit", *text, decision::DecisionQuery::kMostRecords));
  return query;
}

Result<ModeRequest> parse_mode_request(const http::Query& parameters) {
  TRY(check_names(parameters, {"mode", "for"}));
  const std::string mode(parameters.get("mode").value_or(""));
  const auto how_long = parameters.get("for");
  if (mode == "configured") {
    if (how_long) return invalid("'configured' ends an override and takes no time");
    return ModeRequest{};
  }
  const Result<Mode> parsed = koord::parse_mode(mode);
  if (!parsed) return invalid("'" + mode + "' is not a mode, expected off, shadow, enforce, or configured");
  if (!how_long) return invalid("for how long is missing, expected 1s to 168h");
  const Result<Duration> time = parse_duration(*how_long);
  if (!time) return invalid("for '" + std::string(*how_long) + "' is not a duration, expected 1s to 168h");
  return ModeRequest{*parsed, *time};
}

}  // namespace koord::api
