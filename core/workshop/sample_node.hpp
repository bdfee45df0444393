// SPDX-License-Identifier: Apache-2.0
// A small node that is the same everywhere: two CPUs, cgroup v2, two pods of three containers. For runs and trials that
// are to give the same on every machine. [any thread]
#pragma once

#include "core/workshop/fixture.hpp"

namespace koord::workshop {

// Four frames, a second apart: the counters of CPU, memory and pressure go on, the load rises.
Fixture sample_node();

}  // namespace koord::workshop
