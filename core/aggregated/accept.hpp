// SPDX-License-Identifier: Apache-2.0
// Finds the form of a response from the header Accept. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace koord::aggregated {

enum class Form : std::uint8_t {
  json,
  table,          // kubectl's columns
  metadata_only,  // PartialObjectMetadata, for the garbage collector
};

struct Accepted {
  Form form = Form::json;
  std::string version = "v1";    // version of meta.k8s.io
  std::int64_t now_seconds = 0;  // wall clock, for the ages in a table
};

// Returns the first media type that is supported; nullopt if none is.
std::optional<Accepted> accepted_form(std::string_view accept);

enum class DiscoveryForm : std::uint8_t { groups, aggregated_v2, aggregated_v2beta1 };
std::optional<DiscoveryForm> accepted_discovery(std::string_view accept);

// The media type of OpenAPI v2 as protobuf. Older clients request it with '@', which is not a valid media type, so the
// response always has kOpenApiProtobuf.
inline constexpr std::string_view kOpenApiProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
inline constexpr std::string_view kOldOpenApiProtobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
// Returns whether the client accepts OpenAPI v2 only as protobuf, as kubectl up to 1.26 does.
bool wants_openapi_protobuf(std::string_view accept);

}  // namespace koord::aggregated
