// SPDX-License-Identifier: Apache-2.0
// The documents by which clients find the resource: group list, group, resource list, and aggregated discovery. They
// never change. [any thread]
#pragma once

#include <optional>

#include "core/http/message.hpp"

namespace koord::aggregated {

// nullopt: the path is none of those.
std::optional<http::Response> answer_discovery(const http::Request& request);

// A document with its ETag, or 304 if the client has it.
http::Response with_etag(const http::Request& request, http::Response response);

}  // namespace koord::aggregated
