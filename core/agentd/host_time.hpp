// SPDX-License-Identifier: Apache-2.0
// The clock of the agent. Its host time continues that of an earlier agent of the same boot, even if the wall clock was
// set in between. So the records of that agent keep their true age. The file `host-time` keeps the id of the boot and
// the offset to the wall clock. If the file is missing, damaged or of another boot, host time starts at the wall clock.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.hpp"

namespace koord::agentd {

// `directory`: of the file; empty: nothing is kept. `boot`: the id of this boot of the node; empty: unknown, nothing is
// kept. `not_before`: as of SystemClock. A file that cannot be written is left as it is.
std::unique_ptr<SystemClock> clock_of_boot(const std::string& directory, const std::string& boot, Time not_before);

}  // namespace koord::agentd
