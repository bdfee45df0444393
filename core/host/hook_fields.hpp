// SPDX-License-Identifier: Apache-2.0
// The fields of a pod's sandbox or a container that a runtime hook may set, and their valid values. [any thread]
//
//   linux.cpu.shares    2 … 262144                 linux.cpuset.cpus   "0-3,8"
//   linux.cpu.quota     µs from 1000; -1: none     linux.memory.limit  bytes; -1: none
//   env:NAME            any text                   annotation:key      any text
#pragma once

#include <string_view>

#include "core/base/result.hpp"

namespace koord::host {

// An error names what was expected, and for a field that is none the nearest one.
Result<void> check_hook_field(std::string_view field, std::string_view value);

}  // namespace koord::host
