// SPDX-License-Identifier: Apache-2.0
// The status line and the headers of an answer as they are sent, up to the empty line; the line before the bytes of a
// chunk. [any thread]
#pragma once

#include <cstddef>
#include <string>

#include "core/http/message.hpp"

namespace koord::http {

std::string chunk_header(std::size_t bytes);

std::string response_header(const Response& response, bool keep_alive);

}  // namespace koord::http
