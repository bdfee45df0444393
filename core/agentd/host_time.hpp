// SPDX-License-Identifier: Apache-2.0
// Makes the clock of the agent. Its host time continues the host time of an earlier agent of the same boot, even if the
// wall clock was set meanwhile, so records of that agent keep their correct age. The file `host-time` stores the id of
// the boot and the offset to the wall clock. If the file is missing, damaged or from a different boot, host time starts
// at the wall clock.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.hpp"

namespace koord::agentd {

// `directory`: the directory of the file; empty: no file is used. `boot`: the id of this boot of the node; empty:
// unknown, no file is used. `not_before`: see SystemClock. If the file cannot be written, it keeps its content.
std::unique_ptr<SystemClock> clock_of_boot(const std::string& directory, const std::string& boot, Time not_before);

}  // namespace koord::agentd
