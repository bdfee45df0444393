// SPDX-License-Identifier: Apache-2.0
// Process lists as written by NVML. The length of an element is not documented. It was 16 bytes, later 24, and in some
// drivers 32 with the same function. It is derived from the number of bytes written. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace koord::gpu {

struct Process {
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> memory_bytes;  // nullopt: unknown to the driver

  bool operator==(const Process&) const = default;
};

inline constexpr std::size_t kLongestElement = 32;
// The byte with which the buffer is filled before the call of NVML. No element ends with this byte, because lengths and
// instance numbers are small or all ones.
inline constexpr std::byte kUntouched{0xa5};

// Decodes `count` processes. `buffer` was filled with kUntouched and has room for `count` of the longest elements.
// Returns nullopt if the written bytes are not `count` elements of a known length.
std::optional<std::vector<Process>> decode_processes(std::span<const std::byte> buffer, std::size_t count);

}  // namespace koord::gpu
