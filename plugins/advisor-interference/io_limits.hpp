// SPDX-License-Identifier: Apache-2.0
// Block I/O limits of a cgroup, from the kernel's files: blkio.throttle.*_device on v1, io.max on v2. Pure, except for
// read_io_limits(). [any thread]
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

// Limits by device: major << 20 | minor.
using IoLimits = std::map<std::uint32_t, IoLimit>;

// Parses io.max of v2: "254:0 rbps=1048576 wbps=max riops=max wiops=100". Lines in a different format are left out.
IoLimits parse_io_max(std::string_view text);
// Parses one of the four files of v1: "254:0 1048576".
void parse_throttle_file(std::string_view text, double IoLimit::*field, IoLimits& limits);

// Returns an empty map if the cgroup has no limits or no such files.
IoLimits read_io_limits(const cgroup::Layout& layout, const std::string& cgroup);

}  // namespace koord::interference
