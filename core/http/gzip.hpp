// SPDX-License-Identifier: Apache-2.0
// Compressing answers: level 1, since the text of a scrape is cheap to make and dear to compress. [any
// thread]
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::http {

// Whether the value of an Accept-Encoding header lets gzip in: named, or "*", and not with q=0.
bool accepts_gzip(std::string_view accept_encoding);

Result<std::string> gzip(std::string_view text);
// Refuses what unpacks to more than `max_bytes`.
Result<std::string> gunzip(std::string_view packed, std::size_t max_bytes);

}  // namespace koord::http
