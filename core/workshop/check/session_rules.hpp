// SPDX-License-Identifier: Apache-2.0
// The rules about an instance's session on a host without faults. Each session is in a child.
#pragma once

#include "core/workshop/check/rule.hpp"

namespace koord::check {

Outcome sessions(Suspect& suspect);
Outcome ends_its_run(Suspect& suspect);
Outcome leaks_no_descriptors(Suspect& suspect);
Outcome leaks_no_threads(Suspect& suspect);
Outcome leaks_no_memory(Suspect& suspect);
Outcome shares_nothing_between_instances(Suspect& suspect);
Outcome calls_where_it_may(Suspect& suspect);
Outcome is_silent_after_destroy(Suspect& suspect);
Outcome lets_no_exception_out(Suspect& suspect);

}  // namespace koord::check
