// SPDX-License-Identifier: Apache-2.0
// I/O of a cgroup per block device, out of the kernel's text: io.stat of v2, or the two pairs of v1's throttling files.
// Layout::directory(Controller::blkio, …) returns their directory. Pure functions. [any thread]
//
// Accepts the undocumented lines that kernels are known to print: a device without values, alone or before another on
// its line (v2), "(unknown)" for a device without a number, which is left out, and keys of vendors. Source:
// Documentation/admin-guide/cgroup-v2.rst "io.stat", cgroup-v1/blkio-controller.rst.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/cgroup/files.hpp"

namespace koord::cgroup {

// Running totals since the cgroup was made, with its children; kAbsent: not in the text.
struct IoStat {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::int64_t read_bytes = kAbsent;
  std::int64_t write_bytes = kAbsent;
  std::int64_t discard_bytes = kAbsent;
  std::int64_t read_ios = kAbsent;
  std::int64_t write_ios = kAbsent;
  std::int64_t discard_ios = kAbsent;

  bool operator==(const IoStat&) const = default;
};

inline constexpr std::string_view kIoStatFile = "io.stat";
// v1, in the order to try them: those without "_recursive" leave the children out, older kernels have only them.
inline constexpr std::string_view kBlkioBytesFiles[] = {"blkio.throttle.io_service_bytes_recursive",
                                                        "blkio.throttle.io_service_bytes"};
inline constexpr std::string_view kBlkioIosFiles[] = {"blkio.throttle.io_serviced_recursive",
                                                      "blkio.throttle.io_serviced"};

// v2. Devices with at least one value, in the text's order, each once.
std::vector<IoStat> parse_io_stat(std::string_view text);

// v1: the devices of both texts, in the order they come up; either may be empty.
std::vector<IoStat> parse_blkio(std::string_view bytes_text, std::string_view ios_text);

}  // namespace koord::cgroup
