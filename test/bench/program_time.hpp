// SPDX-License-Identifier: Apache-2.0
// The run time of BPF programs as the kernel counts it (bpf_enable_stats(BPF_STATS_RUN_TIME)). Counting itself takes
// about 50 ns for each run. Header-only.
#pragma once

#include <bpf/bpf.h>

#include <cstdint>
#include <string>

#include "core/base/unique_fd.hpp"

namespace koord::bench {

struct ProgramTime {
  std::uint64_t runs = 0, ns = 0;

  double ns_per_run() const { return static_cast<double>(ns) / static_cast<double>(runs); }
  friend ProgramTime operator-(const ProgramTime& a, const ProgramTime& b) { return {a.runs - b.runs, a.ns - b.ns}; }
};

// Returns the time of the newest program of this name, which has 15 bytes at most.
inline ProgramTime time_of_newest(const std::string& name) {
  bpf_prog_info found{};
  for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
    const UniqueFd program(bpf_prog_get_fd_by_id(id));
    bpf_prog_info info{};
    __u32 size = sizeof info;
    if (program && bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0 && name == info.name) found = info;
  }
  return {found.run_cnt, found.run_time_ns};
}

}  // namespace koord::bench
