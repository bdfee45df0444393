// SPDX-License-Identifier: Apache-2.0
// The OpenAPI documents, generated from schema.hpp: v3 as JSON; v2 as JSON and as the protobuf message that kubectl up
// to 1.26 reads. [any thread]
#pragma once

#include <optional>
#include <string>

#include "core/http/message.hpp"

namespace koord::aggregated {

// Returns nullopt if the path is not an OpenAPI path.
std::optional<http::Response> answer_openapi(const http::Request& request);

// Each document is generated once.
const std::string& openapi_v2();
const std::string& openapi_v2_protobuf();
const std::string& openapi_v3();

}  // namespace koord::aggregated
