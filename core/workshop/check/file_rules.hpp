// SPDX-License-Identifier: Apache-2.0
// The rules that need no more than the file. Nothing is run. [any thread]
#pragma once

#include "core/workshop/check/rule.hpp"

namespace koord::check {

Outcome exports_its_entry_alone(Suspect& suspect);
Outcome has_no_unique_symbols(Suspect& suspect);
Outcome finds_every_symbol(Suspect& suspect);
Outcome runs_on_the_oldest_system(Suspect& suspect);
Outcome has_no_text_relocations(Suspect& suspect);
Outcome has_no_executable_stack(Suspect& suspect);
Outcome is_bound_at_load(Suspect& suspect);
Outcome brings_no_search_path(Suspect& suspect);
Outcome has_a_manifest(Suspect& suspect);
Outcome unwinds_its_panics(Suspect& suspect);

}  // namespace koord::check
