// SPDX-License-Identifier: Apache-2.0
// Parses memory.idle_page_stats of a kernel with kidled. Pure: values in, values out.
// Format: Documentation/vm/kidled.rst of Alibaba Cloud Linux.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::cold_memory {

struct IdleFilePages {
  double bytes = 0;
  bool hierarchical = false;  // includes descendants; otherwise only the cgroup's own processes
};

// Returns the bytes of inactive page cache (rows cfei, dfei, cfui, dfui) that have not been accessed for `age`. A
// bucket counts if all its pages are old enough, that is if its lower bound times the scan period is at least `age`. An
// error names what the file lacks.
Result<IdleFilePages> parse_idle_page_stats(std::string_view text, std::chrono::seconds age);

}  // namespace koord::cold_memory
