// SPDX-License-Identifier: Apache-2.0
// The discovery documents, by which clients find the resource: group list, group, resource list, and aggregated
// discovery. They are constant. [any thread]
#pragma once

#include <optional>

#include "core/http/message.hpp"

namespace koord::aggregated {

// Returns nullopt if the path is not a discovery path.
std::optional<http::Response> answer_discovery(const http::Request& request);

// Returns the document with its ETag, or 304 if the client already has it.
http::Response with_etag(const http::Request& request, http::Response response);

}  // namespace koord::aggregated
