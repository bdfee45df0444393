// SPDX-License-Identifier: Apache-2.0
// The statistics of kidled and the map of physical memory, with any content: sizes are not negative, and no range is
// empty.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/advisor-cold-memory/idle_page_stats.hpp"
#include "plugins/advisor-cold-memory/memory_pages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::cold_memory;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pages = parse_idle_page_stats(text, std::chrono::seconds(300));
  if (pages ? pages->bytes < 0 : pages.error().message().empty()) std::abort();
  const auto ranges = parse_system_ram(text);
  for (const Range& range : ranges) {
    if (range.end <= range.start) std::abort();
  }
  // Each range may need one more piece.
  std::size_t calls = 0;
  estimate_bytes(ranges, 4096, 64, static_cast<std::uint32_t>(size) + 1, [&](std::uint64_t) {
    ++calls;
    return std::optional(calls < 10000);
  });
  return 0;
}
