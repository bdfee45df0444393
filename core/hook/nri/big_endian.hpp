// SPDX-License-Identifier: Apache-2.0
// Numbers of 32 bits as the headers of frames and messages have them.
#pragma once

#include <cstdint>
#include <string>

namespace koord::nri {

inline void append_big_endian(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

// Reads four bytes.
inline std::uint32_t read_big_endian(const char* bytes) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

}  // namespace koord::nri
