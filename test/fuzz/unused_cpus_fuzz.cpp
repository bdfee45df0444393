// SPDX-License-Identifier: Apache-2.0
// The CPU lines of /proc/stat, with any content: the use of a CPU is a number and not negative.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/advisor-interference/cpu_use.hpp"

using namespace koord::interference;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const UnusedCpus half = parse_unused_cpus(text.substr(0, size / 2)), all = parse_unused_cpus(text);
  koord::analysis::CpuWindow window{.subject = 1};
  CpuUse({{7, 0, 1'000'000}}, {{7, 2}}, added(half, all), 1).describe(window, {});
  if (!(window.idle >= 0)) std::abort();
  for (const auto& one : window.neighbours)
    if (!(one.usage >= 0)) std::abort();
  return 0;
}
