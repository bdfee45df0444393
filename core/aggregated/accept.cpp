// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/accept.hpp"

#include "core/base/parse.hpp"

namespace koord::aggregated {
namespace {

struct MediaType {
  std::string_view type;
  std::string_view as, group, version;
};

MediaType parse_media_type(std::string_view text) {
  MediaType media;
  media.type = trim(next_field(text, ';').value_or(""));
  while (const auto parameter = next_field(text, ';')) {
    const std::string_view pair = trim(*parameter);
    if (pair.starts_with("as=")) media.as = pair.substr(3);
    if (pair.starts_with("g=")) media.group = pair.substr(2);
    if (pair.starts_with("v=")) media.version = pair.substr(2);
  }
  return media;
}

bool is_json(const MediaType& media) {
  return media.type == "application/json" || media.type == "application/*" || media.type == "*/*";
}

// Calls `take` for each media type until it returns a value.
template <class Take>
auto first_of(std::string_view accept, const Take& take) {
  if (trim(accept).empty()) accept = "*/*";
  decltype(take(MediaType())) taken;
  while (const auto item = next_field(accept, ',')) {
    taken = take(parse_media_type(*item));
    if (taken) break;
  }
  return taken;
}

std::optional<Accepted> form_of(const MediaType& media) {
  if (!is_json(media)) return std::nullopt;
  if (media.as.empty()) return Accepted();
  const bool is_known = media.group == "meta.k8s.io" && (media.version == "v1" || media.version == "v1beta1");
  if (!is_known) return std::nullopt;
  if (media.as == "Table") return Accepted{Form::table, std::string(media.version)};
  if (media.as == "PartialObjectMetadata" || media.as == "PartialObjectMetadataList")
    return Accepted{Form::metadata_only, std::string(media.version)};
  return std::nullopt;
}

std::optional<DiscoveryForm> discovery_of(const MediaType& media) {
  if (!is_json(media)) return std::nullopt;
  if (media.as.empty()) return DiscoveryForm::groups;
  if (media.as != "APIGroupDiscoveryList" || media.group != "apidiscovery.k8s.io") return std::nullopt;
  if (media.version == "v2") return DiscoveryForm::aggregated_v2;
  if (media.version == "v2beta1") return DiscoveryForm::aggregated_v2beta1;
  return std::nullopt;
}

}  // namespace

std::optional<Accepted> accepted_form(std::string_view accept) { return first_of(accept, form_of); }

std::optional<DiscoveryForm> accepted_discovery(std::string_view accept) { return first_of(accept, discovery_of); }

bool wants_openapi_protobuf(std::string_view accept) {
  while (const auto item = next_field(accept, ',')) {
    const MediaType media = parse_media_type(*item);
    if (is_json(media)) return false;
    if (media.type == kOpenApiProtobuf || media.type == kOldOpenApiProtobuf) return true;
  }
  return false;
}

}  // namespace koord::aggregated
