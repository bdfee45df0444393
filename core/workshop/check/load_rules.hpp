// SPDX-License-Identifier: Apache-2.0
// The rules about how a plugin comes into a process, and what it does to it. Each loads it in a child.
#pragma once

#include "core/workshop/check/rule.hpp"

namespace koord::check {

Outcome loads(Suspect& suspect);
Outcome has_the_manifest_of_its_file(Suspect& suspect);
Outcome gives_one_module(Suspect& suspect);
Outcome leaves_the_process_as_it_was(Suspect& suspect);

}  // namespace koord::check
