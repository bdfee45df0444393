// SPDX-License-Identifier: Apache-2.0
// Limits of block I/O of a cgroup, from the kernel's text: blkio.throttle.*_device of v1, io.max of v2. Pure, except
// for read_io_limits(). [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/cgroup/layout.hpp"

namespace koord::interference {

// Per second; 0: no limit.
struct IoLimit {
  double read_bytes = 0, write_bytes = 0, reads = 0, writes = 0;

  bool operator==(const IoLimit&) const = default;
};

// By device: major << 20 | minor.
using IoLimits = std::map<std::uint32_t, IoLimit>;

// v2: "254:0 rbps=1048576 wbps=max riops=max wiops=100". Lines of another form are left out.
IoLimits parse_io_max(std::string_view text);
// v1, one of the four files: "254:0 1048576".
void parse_throttle_file(std::string_view text, double IoLimit::*field, IoLimits& limits);

// Empty: the cgroup has no limits, or no such files.
IoLimits read_io_limits(const cgroup::Layout& layout, const std::string& cgroup);

}  // namespace koord::interference
