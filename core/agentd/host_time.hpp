// SPDX-License-Identifier: Apache-2.0
// The clock of the agent, whose host time goes on where that of an earlier agent of the same boot would be now, even if the
// wall clock was set in between: what that agent recorded has its true age. The file `host-time` keeps the boot and the
// offset. A file that is missing, damaged or of another boot counts as none: host time starts at the wall clock's then.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.hpp"

namespace koord::agentd {

// `directory`: of the file; empty: nothing is kept. `boot`: the id of this boot of the node; empty: unknown, nothing is kept.
// `not_before`: as of SystemClock. A file that cannot be written is left as it is.
std::unique_ptr<SystemClock> clock_of_boot(const std::string& directory, const std::string& boot, Time not_before);

}  // namespace koord::agentd
