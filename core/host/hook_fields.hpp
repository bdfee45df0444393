// SPDX-License-Identifier: Apache-2.0
// The fields of a pod's sandbox or a container that a runtime hook may set, and their valid values. [any thread]
//
//   linux.cpu.shares        2 … 262144               linux.cpuset.cpus    "0-3,8"
//   linux.cpu.quota         µs from 1000; -1: none   linux.cpuset.mems    "0-1"
//   linux.cpu.period        µs, 1000 … 1000000       linux.memory.limit   bytes; -1: none
//   linux.cpu.idle          0, 1                     linux.memory.swap    bytes, with memory; -1: none
//   linux.cpu.bvt_warp_ns   -1 … 2                   linux.oom_score_adj  -1000 … 1000
//   linux.rdt.closid        the name of a resctrl group
//   linux.net_cls.classid   0 … 4294967295
//   device:/dev/NAME        "c MAJOR:MINOR MODE"     mount:/PATH          "/PATH ro" (host/hook_paths.hpp)
//   linux.core_sched.group  text of at most 253 bytes; empty: with all without a group
//   env:NAME                any text                 annotation:key       any text
#pragma once

#include <string_view>

#include "core/base/result.hpp"

namespace koord::host {

// An error names what was expected, and for an unknown field the nearest known one.
Result<void> check_hook_field(std::string_view field, std::string_view value);
// The field is one that may be multiplied, and the factor is above 0 and at most 1000.
Result<void> check_hook_scale(std::string_view field, double factor);

}  // namespace koord::host
