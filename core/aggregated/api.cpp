// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/api.hpp"

#include <utility>

#include "core/aggregated/aggregated_log.hpp"
#include "core/aggregated/discovery.hpp"
#include "core/aggregated/forms.hpp"
#include "core/aggregated/listing.hpp"
#include "core/aggregated/names.hpp"
#include "core/aggregated/openapi.hpp"
#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/http/gzip.hpp"
#include "core/json/writer.hpp"

namespace koord::aggregated {
namespace {

http::Response json_response(unsigned status, std::string text) {
  http::Response response;
  response.status = status;
  response.content_type = http::kJson;
  response.body = std::move(text);
  return response;
}

http::Response stream_response(std::shared_ptr<http::BodyStream> stream) {
  http::Response response;
  response.content_type = http::kJson;
  response.stream = std::move(stream);
  return response;
}

std::string_view media_type(const http::Request& request) {
  std::string_view header = request.header("Content-Type").value_or("");
  return trim(next_field(header, ';').value_or(""));
}

Outcome<std::string> body_of(const http::Request& request) {
  const std::string_view encoding = trim(request.header("Content-Encoding").value_or(""));
  if (encoding.empty() || encoding == "identity") return request.body;
  if (encoding != "gzip") return unsupported_body("only gzip is unpacked");
  auto body = http::gunzip(request.body, kMaxBodyBytes);
  if (!body) return bad_request("the body " + body.error().text);
  return *std::move(body);
}

Outcome<PatchType> patch_type_of(const http::Request& request) {
  const std::string_view type = media_type(request);
  if (type == "application/merge-patch+json") return PatchType::merge;
  if (type == "application/json-patch+json") return PatchType::json;
  return unsupported_body(
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
      "application/merge-patch+json");
}

// Returns a Status of success without an object: the response to delete, and to a report of a client that does not
// request the object.
std::string success_text(const Object& object) {
  JsonWriter json;
  json.begin_object().member("kind", "Status").member("apiVersion", "v1").key("metadata").begin_object().end_object();
  json.member("status", "Success").key("details").begin_object().member("name", object.name()).member("group", kGroup);
  json.member("kind", kResource).member("uid", object.identifiers().uid).end_object().end_object();
  return json.text() + "\n";
}

Outcome<http::Response> object_response(const Call& call, unsigned status, const Object& object) {
  auto text = whole_object(call.accepted, object);
  if (!text) return internal_error(object.name(), text.error().message());
  return json_response(status, *std::move(text) + "\n");
}

bool wants_little(const http::Request& request) {
  return request.header("Prefer").value_or("").find("return=minimal") != std::string_view::npos;
}

}  // namespace

Api::Api(Store& store, const Clock& clock, event::Loop* loop, ApiOptions options)
    : store_(store),
      clock_(clock),
      loop_(loop),
      options_(std::move(options)),
      writing_(store, clock, options_.complete_status),
      counters_(options_.counters ? options_.counters : std::make_shared<Counters>()) {}

bool Api::is_open_path(std::string_view path) {
  return path == "/version" || path == "/healthz" || path == "/livez" || path == "/readyz";
}

Outcome<Attributes> Api::attributes_of(const http::Request& request) {
  Attributes attributes;
  attributes.path = request.path;
  if (request.path.starts_with(std::string(kVersionPath) + "/")) {
    const CallTarget target = TRY(target_of(request));
    attributes.is_resource = true;
    attributes.verb = name_of(target.verb);
    attributes.resource = kResource;
    attributes.subresource = target.is_status ? "status" : "";
    attributes.name = target.name;
    return attributes;
  }
  constexpr std::string_view kVerbs[] = {"get", "head", "post", "put", "patch", "delete"};
  attributes.verb = kVerbs[static_cast<std::size_t>(request.method)];
  return attributes;
}

std::optional<http::Response> Api::answer_health(std::string_view path) const {
  if (path == "/version")
    return json_response(200, R"({"major":"1","minor":"30","gitVersion":"v1.30.0+koordetector","platform":"linux"})");
  if (path == "/readyz" && !store_.is_serving()) return http::plain_text(503, "not serving");
  return is_open_path(path) ? std::optional(http::plain_text(200, "ok")) : std::nullopt;
}

http::Response Api::answer(const http::Request& request, const Identity& identity) {
  if (request.path.starts_with(std::string(kVersionPath) + "/")) {
    auto answer = answer_call(request, identity);
    if (answer) return *std::move(answer);
    if (answer.error().code == 409) ++counters_->conflicts;
    if (answer.error().code == 422) ++counters_->invalid;
    return to_response(answer.error());
  }
  if (http::is_read(request.method)) {
    if (auto answer = answer_health(request.path)) return *std::move(answer);
    if (auto answer = answer_discovery(request)) return *std::move(answer);
    if (auto answer = answer_openapi(request)) return *std::move(answer);
  }
  return to_response(no_such_path(request.path));
}

Outcome<http::Response> Api::answer_call(const http::Request& request, const Identity& identity) {
  Call call = TRY(parse_call(request));
  call.accepted.now_seconds = clock_.wall_ns() / 1'000'000'000;
  if (!is_write(call.verb)) return read(std::move(call), identity);
  if (auto refused = limit_to_node(call, identity)) return *std::move(refused);
  return write(call, request, identity);
}

std::optional<Failure> Api::limit_to_node(Call& call, const Identity& identity) {
  const auto node = node_of(identity);
  const auto refuse = [&](const std::string& why) {
    note_refusal(call, identity, why);
    return forbidden(call.name, why);
  };
  if (!node && !options_.agent_user.empty() && identity.user == options_.agent_user)
    return refuse("the token of the agent has no name of a node");
  if (!node) return std::nullopt;
  if (node->empty()) return refuse("the client has no single name of a node");
  if (call.verb == Verb::remove_all || (!call.name.empty() && call.name != *node))
    return refuse("node '" + std::string(*node) + "' may write only its own object");
  call.only_name = *node;
  return std::nullopt;
}

void Api::note_refusal(const Call& call, const Identity& identity, std::string_view why) {
  ++counters_->other_nodes;
  audit_lines_.write(clock_.now(), aggregated_log, log::Level::warn,
                     "refused: '" + printable(identity.user) + "' may not " + std::string(name_of(call.verb)) +
                         " NodeMetric '" + printable(call.name) + "': " + std::string(why));
}

// Returns the version of a list, or the version after which a watch begins.
Outcome<Version> Api::version_for(const Call& call) const {
  const Version newest = store_.newest(), oldest = store_.oldest(), asked = call.version.value_or(0);
  if (asked > newest) return version_too_large(asked, newest);
  const bool needs_history = call.is_next_page || (call.verb == Verb::watch && asked != 0 && !call.sends_initial);
  if (needs_history && asked < oldest) return expired(asked, oldest);
  if (call.match == VersionMatch::exact && asked != newest) return expired(asked, newest);
  return needs_history ? asked : newest;
}

Outcome<http::Response> Api::read(Call call, const Identity& identity) {
  if (!store_.is_serving())
    return not_serving(store_.is_closed() ? "this server is not the leader" : "reports are still coming in");
  const Version version = TRY(version_for(call));
  if (call.verb == Verb::list) return stream_response(std::make_shared<Listing>(store_, std::move(call), version));
  if (call.verb == Verb::watch) {
    const bool is_initial = call.sends_initial || call.version.value_or(0) == 0;
    return stream_response(std::make_shared<Watch>(Watch::Parts{store_, clock_, counters_->watches, loop_},
                                                   std::move(call), is_initial ? std::nullopt : std::optional(version),
                                                   identity.user));
  }
  const ObjectPtr object = store_.find(call.name);
  if (!object) return no_such_object(call.name);
  return object_response(call, 200, *object);
}

Outcome<Written> Api::store(const Call& call, const http::Request& request, std::string_view body) {
  if (call.verb == Verb::remove_all) return method_not_allowed("deletecollection is not supported");
  if (call.verb == Verb::patch) {
    const PatchType type = TRY(patch_type_of(request));
    return writing_.patch(call, body, type);
  }
  if (!media_type(request).empty() && media_type(request) != http::kJson)
    return unsupported_body("only application/json is read");
  return call.verb == Verb::create ? writing_.create(call, body) : writing_.update(call, body);
}

void Api::pass_report(const ObjectPtr& object) {
  ++counters_->reports;
  if (!options_.on_report) return;
  if (const auto plain = store_.plain(object))
    options_.on_report(*plain);
  else
    log::error(aggregated_log, "{}, ignoring its report", plain.error().message());
}

Outcome<http::Response> Api::write(const Call& call, const http::Request& request, const Identity& identity) {
  if (store_.is_closed()) return not_serving("this server is not the leader");
  const std::string body = TRY(body_of(request));
  if (call.verb == Verb::remove) {
    const ObjectPtr last = TRY(writing_.remove(call, body));
    return json_response(200, success_text(*last));
  }
  auto stored = store(call, request, body);
  if (!stored && stored.error().code == 403) note_refusal(call, identity, stored.error().message);
  const Written written = TRY(std::move(stored));
  if (call.is_status && !call.is_dry_run) pass_report(written.object);
  const unsigned status = written.is_new ? 201 : 200;
  if (!wants_little(request)) return object_response(call, status, *written.object);
  http::Response response = json_response(status, success_text(*written.object));
  response.headers.emplace_back("Preference-Applied", "return=minimal");
  return response;
}

}  // namespace koord::aggregated
