// SPDX-License-Identifier: Apache-2.0
// Lists of processes as NVML fills them in. The length of an element is not documented: it was 16 bytes, then 24, and
// in some drivers 32 behind the same function. It is derived from the number of bytes written. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace koord::gpu {

struct Process {
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> memory_bytes;  // nothing: unknown to the driver

  bool operator==(const Process&) const = default;
};

inline constexpr std::size_t kLongestElement = 32;
// A byte that no element ends in, for the buffer before NVML gets it: lengths and instance numbers are small or all
// ones.
inline constexpr std::byte kUntouched{0xa5};

// `buffer` was kUntouched throughout and has room for `count` of the longest elements. Nothing when what was written is
// not `count` elements of a known length.
std::optional<std::vector<Process>> decode_processes(std::span<const std::byte> buffer, std::size_t count);

}  // namespace koord::gpu
