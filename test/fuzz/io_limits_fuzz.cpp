// SPDX-License-Identifier: Apache-2.0
// Block I/O limits in the forms of cgroup v1 and v2: no limit is negative, with any content of the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/advisor-interference/io_limits.hpp"

using koord::interference::IoLimit;
using koord::interference::IoLimits;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  IoLimits limits = koord::interference::parse_io_max(text);
  koord::interference::parse_throttle_file(text, &IoLimit::writes, limits);
  for (const auto& [device, limit] : limits)
    if (!(limit.read_bytes >= 0 && limit.write_bytes >= 0 && limit.reads >= 0 && limit.writes >= 0)) std::abort();
  return 0;
}
