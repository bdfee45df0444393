// SPDX-License-Identifier: Apache-2.0
// The rules about what a plugin must stand from its host: all of it is within the contract of plugin.h. Each in a
// child.
#pragma once

#include "core/workshop/check/rule.hpp"

namespace koord::check {

Outcome refuses_without_a_required_service(Suspect& suspect);
Outcome does_without_optional_services(Suspect& suspect);
Outcome stands_failing_services(Suspect& suspect);
Outcome stands_growing_answers(Suspect& suspect);
Outcome stands_jumps_of_time(Suspect& suspect);
Outcome stands_any_number_of_pods(Suspect& suspect);
Outcome refuses_cut_tables(Suspect& suspect);
Outcome takes_grown_tables(Suspect& suspect);
Outcome steps_by_the_stride(Suspect& suspect);
Outcome writes_to_nothing_borrowed(Suspect& suspect);
Outcome keeps_nothing_borrowed(Suspect& suspect);

}  // namespace koord::check
