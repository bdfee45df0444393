// SPDX-License-Identifier: Apache-2.0
// OpenAPI v2 as the protobuf message openapi.v2.Document. It has the parts that `kubectl explain` reads: definitions
// with types, descriptions and kinds. [any thread]
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace koord::aggregated {

std::string openapi_message(const boost::json::object& info, const boost::json::object& definitions);

}  // namespace koord::aggregated
