// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/call.hpp"

#include <utility>

#include "core/aggregated/names.hpp"
#include "core/base/parse.hpp"

namespace koord::aggregated {
namespace {

constexpr Duration kMostTimeout = std::chrono::hours(12);

// Parses a flag like Go's strconv.ParseBool, as an API server does.
bool is_set(const http::Query& query, std::string_view name) {
  const std::string_view value = query.get(name).value_or("false");
  return value == "true" || value == "1" || value == "t" || value == "T" || value == "TRUE" || value == "True";
}

Failure wrong_parameter(std::string_view name, const Error& error) {
  return bad_request("invalid query parameter '" + std::string(name) + "': " + error.text);
}

Outcome<std::uint64_t> number_in(const http::Query& query, std::string_view name) {
  const std::string_view text = query.get(name).value_or("");
  if (text.empty()) return std::uint64_t{0};
  const auto number = parse_uint(text);
  if (!number) return wrong_parameter(name, number.error());
  return *number;
}

struct RequestPlace {
  std::string name;
  bool is_status = false;
};

Outcome<RequestPlace> place_of(std::string_view path) {
  const std::string_view whole = path;
  path.remove_prefix(kVersionPath.size() + 1);
  if (next_field(path, '/') != kResource) return no_such_path(whole);
  RequestPlace place;
  place.name = next_field(path, '/').value_or("");
  const std::string_view subresource = next_field(path, '/').value_or("");
  place.is_status = subresource == "status" && !place.name.empty();
  if (!path.empty() || (!subresource.empty() && !place.is_status) || whole.ends_with('/')) return no_such_path(whole);
  return place;
}

Outcome<Verb> verb_of(const http::Request& request, const RequestPlace& place) {
  const bool has_name = !place.name.empty();
  switch (request.method) {
    case http::Method::get:
    case http::Method::head:
      if (!place.is_status && is_set(request.query, "watch")) return Verb::watch;
      return has_name ? Verb::get : Verb::list;
    case http::Method::post:
      if (!has_name) return Verb::create;
      break;
    case http::Method::put:
      if (has_name) return Verb::update;
      break;
    case http::Method::patch:
      if (has_name) return Verb::patch;
      break;
    case http::Method::remove:
      if (!place.is_status) return has_name ? Verb::remove : Verb::remove_all;
      break;
  }
  return method_not_allowed("the server does not allow this method on the requested resource");
}

Outcome<VersionMatch> match_of(const http::Query& query) {
  const std::string_view text = query.get("resourceVersionMatch").value_or("");
  if (text.empty()) return VersionMatch::unset;
  if (text == "Exact") return VersionMatch::exact;
  if (text == "NotOlderThan") return VersionMatch::not_older;
  return bad_request("resourceVersionMatch must be 'Exact' or 'NotOlderThan'");
}

// The format of `continue` is "VERSION:NAME"; the name is the rest of the text.
Failure no_continue() { return bad_request("continue key is not valid"); }

Outcome<Call> with_continue(Call call, std::string_view text) {
  if (text.empty()) return call;
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return no_continue();
  const auto version = parse_uint(text.substr(0, colon));
  if (!version || *version == 0) return no_continue();
  if (call.version && *call.version != 0)
    return bad_request("specifying resource version is not allowed when using continue");
  call.version = *version;
  call.match = VersionMatch::unset;
  call.after = text.substr(colon + 1);
  call.is_next_page = true;
  return call;
}

// Returns the problems with combinations that an API server refuses. client-go then lists instead.
std::vector<Cause> list_option_problems(const Call& call) {
  std::vector<Cause> causes;
  const auto forbid = [&](const char* field, const char* text) {
    causes.push_back({field, "FieldValueForbidden", std::string("Forbidden: ") + text});
  };
  if (call.sends_initial) {
    if (call.verb != Verb::watch) forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
    if (call.match != VersionMatch::not_older)
      forbid("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (!call.has_bookmarks) forbid("allowWatchBookmarks", "sendInitialEvents requires allowWatchBookmarks");
  } else if (call.match != VersionMatch::unset) {
    if (call.verb == Verb::watch)
      forbid("resourceVersionMatch",
             "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    else if (!call.version)
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    else if (call.match == VersionMatch::exact && *call.version == 0)
      forbid("resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return causes;
}

Outcome<Call> with_read_options(Call call, const http::Query& query) {
  call.sends_initial = is_set(query, "sendInitialEvents");
  call.has_bookmarks = is_set(query, "allowWatchBookmarks");
  call.match = TRY(match_of(query));
  if (!query.get("resourceVersion").value_or("").empty()) call.version = TRY(number_in(query, "resourceVersion"));
  const std::uint64_t seconds = TRY(number_in(query, "timeoutSeconds"));
  call.timeout = std::chrono::seconds(std::min<std::uint64_t>(seconds, kMostTimeout / std::chrono::seconds(1)));
  call.limit = TRY(number_in(query, "limit"));
  auto selector = Selector::parse(query.get("labelSelector").value_or(""), query.get("fieldSelector").value_or(""));
  if (!selector) return bad_request("unable to parse requirement: " + selector.error().text);
  call.selector = *std::move(selector);
  if (call.verb == Verb::list) call = TRY(with_continue(std::move(call), query.get("continue").value_or("")));
  auto problems = list_option_problems(call);
  if (!problems.empty()) return invalid_object("", std::move(problems));
  return call;
}

}  // namespace

std::string_view name_of(Verb verb) {
  constexpr std::string_view kNames[] = {"get",    "list",  "watch",  "create",
                                         "update", "patch", "delete", "deletecollection"};
  return kNames[static_cast<std::size_t>(verb)];
}

bool is_write(Verb verb) { return verb >= Verb::create; }

Outcome<CallTarget> target_of(const http::Request& request) {
  RequestPlace place = TRY(place_of(request.path));
  const Verb verb = TRY(verb_of(request, place));
  return CallTarget{verb, std::move(place.name), place.is_status};
}

Outcome<Call> parse_call(const http::Request& request) {
  CallTarget target = TRY(target_of(request));
  Call call;
  call.verb = target.verb;
  call.name = std::move(target.name);
  call.is_status = target.is_status;
  const auto accepted = accepted_form(request.header("Accept").value_or(""));
  if (!accepted) return not_acceptable();
  call.accepted = *accepted;
  const std::string_view dry_run = request.query.get("dryRun").value_or("");
  if (!dry_run.empty() && dry_run != "All")
    return bad_request("dryRun: Unsupported value: \"" + std::string(dry_run) + "\": supported values: \"All\"");
  call.is_dry_run = !dry_run.empty();
  return is_write(call.verb) && call.verb != Verb::remove_all ? Outcome<Call>(std::move(call))
                                                              : with_read_options(std::move(call), request.query);
}

std::string continue_text(Version version, std::string_view name) {
  return std::to_string(version) + ":" + std::string(name);
}

}  // namespace koord::aggregated
