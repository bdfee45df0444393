// SPDX-License-Identifier: Apache-2.0
// Simple8b: unsigned integers packed into 64-bit words. The four top bits of a word say how it is divided: into 1 to
// 60 values of equal width, a run of zeros with its length, or an escape that announces one whole word. [any thread]
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/store/bytes.hpp"

namespace koord::store {

void simple8b_encode(std::span<const std::uint64_t> values, std::string& out);

// Fills `values`; false when the bytes end too early or say something that encode never does.
bool simple8b_decode(ByteReader& in, std::span<std::uint64_t> values);

}  // namespace koord::store
