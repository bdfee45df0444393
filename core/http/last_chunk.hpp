// SPDX-License-Identifier: Apache-2.0
// The end of a chunked body, for both parsers.
#pragma once

#include <cstddef>

namespace koord::http {

// "0\r\n\r\n": Beast, which has seen "0\r\n" and wants more, asserts that it is given so much.
inline constexpr std::size_t kLastChunkBytes = 5;

}  // namespace koord::http
