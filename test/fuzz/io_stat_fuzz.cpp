// SPDX-License-Identifier: Apache-2.0
// Statistics of block devices, as a kernel or the author of a fake tree can write them.
#include <cstddef>
#include <cstdint>

#include "core/cgroup/io_stat.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::cgroup;

namespace {

// Checks that each device occurs once and has a value, and that each value is a valid count.
void check_stats(const std::vector<IoStat>& stats) {
  for (std::size_t i = 0; i < stats.size(); ++i) {
    const IoStat& stat = stats[i];
    bool any = false;
    for (std::int64_t value :
         {stat.read_bytes, stat.write_bytes, stat.discard_bytes, stat.read_ios, stat.write_ios, stat.discard_ios}) {
      check(value == kAbsent || value >= 0);
      any = any || value != kAbsent;
    }
    check(any);
    for (std::size_t other = 0; other < i; ++other)
      check(stats[other].major != stat.major || stats[other].minor != stat.minor);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_stats(parse_io_stat(text));
  check_stats(parse_blkio(text, ""));
  std::string_view first = text.substr(0, size / 2);
  check_stats(parse_blkio(first, text.substr(first.size())));
  return 0;
}
