// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/discovery.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "core/aggregated/accept.hpp"
#include "core/aggregated/failure.hpp"
#include "core/aggregated/names.hpp"
#include "core/json/writer.hpp"

namespace koord::aggregated {
namespace {

constexpr std::string_view kVerbs[] = {"create", "delete", "get", "list", "patch", "update", "watch"};
constexpr std::string_view kStatusVerbs[] = {"get", "patch", "update"};
constexpr std::string_view kShortName = "nm";

template <class Texts>
void write_list(JsonWriter& json, std::string_view name, const Texts& texts) {
  json.key(name).begin_array();
  for (const std::string_view text : texts) json.value(text);
  json.end_array();
}

JsonWriter& begin_kind(JsonWriter& json, std::string_view kind, std::string_view version) {
  return json.begin_object().member("kind", kind).member("apiVersion", version);
}

void write_version(JsonWriter& json) {
  json.begin_object().member("groupVersion", kApiVersion).member("version", kGroupVersion).end_object();
}

// Writes the members of a group after those that state its kind.
void write_group(JsonWriter& json) {
  json.member("name", kGroup).key("versions").begin_array();
  write_version(json);
  json.end_array().key("preferredVersion");
  write_version(json);
  json.end_object();
}

std::string group_text() {
  JsonWriter json;
  write_group(begin_kind(json, "APIGroup", "v1"));
  return json.text();
}

std::string group_list_text() {
  JsonWriter json;
  begin_kind(json, "APIGroupList", "v1").key("groups").begin_array().begin_object();
  write_group(json);
  json.end_array().end_object();
  return json.text();
}

std::string resource_list_text() {
  JsonWriter json;
  begin_kind(json, "APIResourceList", "v1").member("groupVersion", kApiVersion).key("resources").begin_array();
  json.begin_object().member("name", kResource).member("singularName", kSingular).member("namespaced", false);
  json.member("kind", kKind);
  write_list(json, "verbs", kVerbs);
  write_list(json, "shortNames", std::initializer_list<std::string_view>{kShortName});
  json.end_object();
  json.begin_object().member("name", std::string(kResource) + "/status").member("singularName", "");
  json.member("namespaced", false).member("kind", kKind);
  write_list(json, "verbs", kStatusVerbs);
  json.end_object().end_array().end_object();
  return json.text();
}

void write_response_kind(JsonWriter& json) {
  json.key("responseKind").begin_object().member("group", kGroup).member("version", kGroupVersion);
  json.member("kind", kKind).end_object();
}

std::string aggregated_text(std::string_view version) {
  JsonWriter json;
  begin_kind(json, "APIGroupDiscoveryList", "apidiscovery.k8s.io/" + std::string(version));
  json.key("metadata").begin_object().end_object().key("items").begin_array().begin_object();
  json.key("metadata").begin_object().member("name", kGroup).end_object();
  json.key("versions").begin_array().begin_object().member("version", kGroupVersion).member("freshness", "Current");
  json.key("resources").begin_array().begin_object().member("resource", kResource);
  write_response_kind(json);
  json.member("scope", "Cluster").member("singularResource", kSingular);
  write_list(json, "verbs", kVerbs);
  write_list(json, "shortNames", std::initializer_list<std::string_view>{kShortName});
  json.key("subresources").begin_array().begin_object().member("subresource", "status");
  write_response_kind(json);
  write_list(json, "verbs", kStatusVerbs);
  json.end_object().end_array().end_object().end_array().end_object().end_array().end_object().end_array().end_object();
  return json.text();
}

http::Response document(const http::Request& request, std::string text, std::string content_type) {
  http::Response response;
  response.content_type = std::move(content_type);
  response.body = std::move(text);
  return with_etag(request, std::move(response));
}

http::Response answer_groups(const http::Request& request) {
  const auto form = accepted_discovery(request.header("Accept").value_or(""));
  if (!form) return to_response(not_acceptable());
  if (*form == DiscoveryForm::groups) return document(request, group_list_text(), std::string(http::kJson));
  const std::string version = *form == DiscoveryForm::aggregated_v2 ? "v2" : "v2beta1";
  return document(request, aggregated_text(version),
                  "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList");
}

// Returns a FNV-1a hash. An ETag only has to detect changes, so it does not have to be cryptographic.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

http::Response with_etag(const http::Request& request, http::Response response) {
  char tag[24];
  std::snprintf(tag, sizeof tag, "\"%016llX\"", static_cast<unsigned long long>(hash_of(response.body)));
  if (request.header("If-None-Match") == std::string_view(tag)) {
    response.status = 304;
    response.body.clear();
  }
  response.headers.emplace_back("ETag", tag);
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

std::optional<http::Response> answer_discovery(const http::Request& request) {
  std::string_view path = request.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/apis") return answer_groups(request);
  if (path == kGroupPath) return document(request, group_text(), std::string(http::kJson));
  if (path == kVersionPath) return document(request, resource_list_text(), std::string(http::kJson));
  return std::nullopt;
}

}  // namespace koord::aggregated
