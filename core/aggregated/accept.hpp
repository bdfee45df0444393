// SPDX-License-Identifier: Apache-2.0
// The form of an answer, from the header Accept. [any thread]
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
  std::string version = "v1";    // of meta.k8s.io
  std::int64_t now_seconds = 0;  // wall clock: a table shows ages
};

// The first media type that is served. nullopt: none of them.
std::optional<Accepted> accepted_form(std::string_view accept);

enum class DiscoveryForm : std::uint8_t { groups, aggregated_v2, aggregated_v2beta1 };
std::optional<DiscoveryForm> accepted_discovery(std::string_view accept);

// Older clients ask with '@', which is no valid media type, so the answer has the other one.
inline constexpr std::string_view kOpenApiProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
inline constexpr std::string_view kOldOpenApiProtobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
// Whether the peer takes OpenAPI v2 only as protobuf, as kubectl up to 1.26 does.
bool wants_openapi_protobuf(std::string_view accept);

}  // namespace koord::aggregated
