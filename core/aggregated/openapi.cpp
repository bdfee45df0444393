// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/openapi.hpp"

#include <boost/json.hpp>
#include <string_view>
#include <utility>

#include "core/aggregated/accept.hpp"
#include "core/aggregated/discovery.hpp"
#include "core/aggregated/failure.hpp"
#include "core/aggregated/names.hpp"
#include "core/aggregated/openapi_message.hpp"
#include "core/aggregated/schema.hpp"

namespace koord::aggregated {
namespace {

namespace json = boost::json;

constexpr std::string_view kDefinition = "sh.koordetector.metrics.v1alpha1.NodeMetric";
constexpr std::string_view kListDefinition = "sh.koordetector.metrics.v1alpha1.NodeMetricList";
constexpr const char* kText =
    "Usage of a node and its pods, as the node's agent reports it every few seconds. It is kept in memory only.";

json::string_view json_view(std::string_view text) { return {text.data(), text.size()}; }

json::value typed(const char* type, const char* format = nullptr) {
  json::object schema{{"type", type}};
  if (format != nullptr) schema["format"] = format;
  return schema;
}

json::value described(json::value schema, std::string_view description) {
  if (!description.empty()) schema.as_object()["description"] = json_view(description);
  return schema;
}

json::value schema_of(const Field& field);

json::value object_schema(const Field& field) {
  json::object properties;
  json::array required;
  for (const Field& member : field.fields) {
    properties[json_view(member.name)] = schema_of(member);
    if (member.is_required) required.push_back(json_view(member.name));
  }
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

json::value plain_schema(const Field& field) {
  switch (field.type) {
    case FieldType::object:
      return object_schema(field);
    case FieldType::list:
      return json::object{{"type", "array"}, {"items", schema_of(field.fields[0])}};
    case FieldType::map:
      return json::object{{"type", "object"}, {"additionalProperties", schema_of(field.fields[0])}};
    case FieldType::text:
    case FieldType::duration:
      return typed("string");
    case FieldType::time:
      return typed("string", "date-time");
    case FieldType::quantity:
      return json::object{{"type", "string"}, {"x-kubernetes-int-or-string", true}};
    case FieldType::int32:
      return typed("integer", "int32");
    case FieldType::int64:
      return typed("integer", "int64");
    case FieldType::number:
      return typed("number", "double");
    case FieldType::boolean:
      return typed("boolean");
    case FieldType::anything:
      return json::object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  }
  return json::object();
}

json::value schema_of(const Field& field) { return described(plain_schema(field), field.description); }

json::value metadata_schema() {
  json::object texts{{"type", "object"}, {"additionalProperties", typed("string")}};
  return json::object{{"type", "object"},
                      {"description", "Standard metadata of the object; the name is that of the node."},
                      {"properties", json::object{{"name", typed("string")},
                                                  {"uid", typed("string")},
                                                  {"resourceVersion", typed("string")},
                                                  {"generation", typed("integer", "int64")},
                                                  {"creationTimestamp", typed("string", "date-time")},
                                                  {"labels", texts},
                                                  {"annotations", texts}}}};
}

json::array kind_extension(std::string_view kind) {
  return {json::object{{"group", json_view(kGroup)}, {"version", json_view(kGroupVersion)}, {"kind", json_view(kind)}}};
}

json::value with_kind(std::string_view kind, std::string_view description, json::object properties) {
  properties["apiVersion"] = described(typed("string"), "Version of this form of the object.");
  properties["kind"] = described(typed("string"), "Kind of the object.");
  return json::object{{"type", "object"},
                      {"description", json_view(description)},
                      {"properties", std::move(properties)},
                      {"x-kubernetes-group-version-kind", kind_extension(kind)}};
}

// Returns the definitions by name. `reference`: their place in the document.
json::object definitions(const std::string& reference) {
  json::object items{{"type", "array"}, {"items", json::object{{"$ref", reference + std::string(kDefinition)}}}};
  json::object node{
      {"metadata", metadata_schema()}, {"spec", schema_of(spec_schema())}, {"status", schema_of(status_schema())}};
  json::object list{{"metadata", json::object{{"type", "object"}}}, {"items", std::move(items)}};
  return {{json_view(kDefinition), with_kind(kKind, kText, std::move(node))},
          {json_view(kListDefinition), with_kind(kListKind, "A list of NodeMetric.", std::move(list))}};
}

json::object info() { return {{"title", "koord-manager"}, {"version", json_view(kGroupVersion)}}; }

// Returns the paths. kubectl uses them to find the kind of a response.
json::object paths() {
  const json::object kind{
      {"group", json_view(kGroup)}, {"version", json_view(kGroupVersion)}, {"kind", json_view(kKind)}};
  const auto operation = [&](const char* action) {
    return json::object{{"x-kubernetes-action", action},
                        {"x-kubernetes-group-version-kind", kind},
                        {"responses", json::object{{"200", json::object{{"description", "OK"}}}}}};
  };
  const std::string list = std::string(kVersionPath) + "/" + std::string(kResource), one = list + "/{name}";
  return {{list, json::object{{"get", operation("list")}, {"post", operation("post")}}},
          {one, json::object{{"get", operation("get")}, {"put", operation("put")}, {"delete", operation("delete")}}}};
}

http::Response document(const http::Request& request, const std::string& text, std::string_view type) {
  http::Response response;
  response.content_type = type;
  response.body = text;
  return with_etag(request, std::move(response));
}

// Returns the index of the documents.
std::string v3_index() {
  const std::string path = std::string(kVersionPath).substr(1);
  return json::serialize(
      json::object{{"paths", json::object{{path, json::object{{"serverRelativeURL", "/openapi/v3/" + path}}}}}});
}

}  // namespace

const std::string& openapi_v2() {
  static const std::string text = json::serialize(json::object{
      {"swagger", "2.0"}, {"info", info()}, {"paths", paths()}, {"definitions", definitions("#/definitions/")}});
  return text;
}

const std::string& openapi_v2_protobuf() {
  static const std::string bytes = openapi_message(info(), definitions("#/definitions/"));
  return bytes;
}

const std::string& openapi_v3() {
  static const std::string text =
      json::serialize(json::object{{"openapi", "3.0.0"},
                                   {"info", info()},
                                   {"paths", paths()},
                                   {"components", json::object{{"schemas", definitions("#/components/schemas/")}}}});
  return text;
}

std::optional<http::Response> answer_openapi(const http::Request& request) {
  if (request.path == "/openapi/v2") {
    if (wants_openapi_protobuf(request.header("Accept").value_or("")))
      return document(request, openapi_v2_protobuf(), kOpenApiProtobuf);
    return document(request, openapi_v2(), http::kJson);
  }
  if (request.path == "/openapi/v3") return document(request, v3_index(), http::kJson);
  if (request.path == "/openapi/v3" + std::string(kVersionPath)) return document(request, openapi_v3(), http::kJson);
  return std::nullopt;
}

}  // namespace koord::aggregated
