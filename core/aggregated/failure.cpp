// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/failure.hpp"

#include <utility>

#include "core/aggregated/names.hpp"
#include "core/json/writer.hpp"

namespace koord::aggregated {
namespace {

Failure of_object(unsigned code, std::string_view reason, std::string_view name, std::string message) {
  return {.code = code, .reason = reason, .message = std::move(message), .name = std::string(name)};
}

Failure without_object(unsigned code, std::string_view reason, std::string message) {
  return {.code = code, .reason = reason, .message = std::move(message)};
}

std::string quoted_resource(std::string_view name) {
  return std::string(kResource) + "." + std::string(kGroup) + " \"" + std::string(name) + "\"";
}

void write_details(JsonWriter& json, const Failure& failure) {
  json.key("details").begin_object();
  if (!failure.name.empty())
    json.member("name", failure.name).member("group", kGroup).member("kind", failure.code == 422 ? kKind : kResource);
  if (!failure.causes.empty()) {
    json.key("causes").begin_array();
    for (const Cause& cause : failure.causes) {
      json.begin_object().member("reason", cause.reason).member("message", cause.message);
      if (!cause.field.empty()) json.member("field", cause.field);
      json.end_object();
    }
    json.end_array();
  }
  if (failure.retry_after_seconds > 0) json.member("retryAfterSeconds", failure.retry_after_seconds);
  json.end_object();
}

}  // namespace

std::string status_text(const Failure& failure) {
  JsonWriter json;
  json.begin_object().member("kind", "Status").member("apiVersion", "v1").key("metadata").begin_object().end_object();
  json.member("status", "Failure").member("message", failure.message).member("reason", failure.reason);
  write_details(json, failure);
  json.member("code", failure.code).end_object();
  return json.text() + "\n";
}

http::Response to_response(const Failure& failure) {
  http::Response response;
  response.status = failure.code;
  response.content_type = http::kJson;
  response.body = status_text(failure);
  if (failure.retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(failure.retry_after_seconds));
  return response;
}

Failure bad_request(std::string message) { return without_object(400, "BadRequest", std::move(message)); }

Failure unauthorized(std::string message) {
  return without_object(401, "Unauthorized", message.empty() ? "Unauthorized" : std::move(message));
}

Failure forbidden(std::string_view name, std::string message) {
  return of_object(403, "Forbidden", name, quoted_resource(name) + " is forbidden: " + message);
}

Failure no_such_object(std::string_view name) {
  return of_object(404, "NotFound", name, quoted_resource(name) + " not found");
}

Failure no_such_path(std::string_view path) {
  return without_object(404, "NotFound", "nothing is served at '" + std::string(path) + "'");
}

Failure method_not_allowed(std::string message) { return without_object(405, "MethodNotAllowed", std::move(message)); }

Failure not_acceptable() {
  return without_object(406, "NotAcceptable",
                        "only application/json is served, also as Table or PartialObjectMetadata");
}

Failure already_exists(std::string_view name) {
  return of_object(409, "AlreadyExists", name, quoted_resource(name) + " already exists");
}

Failure conflict(std::string_view name, std::string message) {
  return of_object(409, "Conflict", name,
                   "Operation cannot be fulfilled on " + quoted_resource(name) + ": " + std::move(message));
}

Failure expired(Version asked, Version oldest) {
  return without_object(410, "Expired",
                        "too old resource version: " + std::to_string(asked) + " (" + std::to_string(oldest) + ")");
}

Failure too_large(std::string message) { return without_object(413, "RequestEntityTooLarge", std::move(message)); }

Failure unsupported_body(std::string message) {
  return without_object(415, "UnsupportedMediaType", std::move(message));
}

Failure invalid_object(std::string_view name, std::vector<Cause> causes) {
  std::string message = std::string(kKind) + "." + std::string(kGroup) + " \"" + std::string(name) + "\" is invalid";
  for (std::size_t i = 0; i < causes.size(); ++i)
    message += (i == 0 ? ": " : ", ") + causes[i].field + ": " + causes[i].message;
  Failure failure = of_object(422, "Invalid", name, std::move(message));
  failure.causes = std::move(causes);
  return failure;
}

Failure too_many_requests(std::string message) {
  Failure failure = without_object(429, "TooManyRequests", std::move(message));
  failure.retry_after_seconds = 1;
  return failure;
}

Failure internal_error(std::string_view name, std::string message) {
  return of_object(500, "InternalError", name, std::move(message));
}

Failure not_serving(std::string message) {
  Failure failure = without_object(503, "ServiceUnavailable", std::move(message));
  failure.retry_after_seconds = 1;
  return failure;
}

Failure version_too_large(Version asked, Version newest) {
  const std::string message =
      "Too large resource version: " + std::to_string(asked) + ", current: " + std::to_string(newest);
  Failure failure = without_object(504, "Timeout", message);
  failure.causes.push_back({"", "ResourceVersionTooLarge", "Too large resource version"});
  failure.retry_after_seconds = 1;
  return failure;
}

}  // namespace koord::aggregated
