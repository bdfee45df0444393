// SPDX-License-Identifier: Apache-2.0
// Effects of an attack that it cannot see itself, and lines that the agent must write about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "test/hostile/attacks.hpp"
#include "test/hostile/raid.hpp"
#include "test/support/agent_process.hpp"

namespace koord::hostile {

// Complaints; empty: it achieved nothing, and the log says what it must.
std::vector<std::string> effects_of(const Attack& attack, const test::AgentProcess& agent, Rights rights);

// The same after the agent's end.
std::vector<std::string> effects_on_stop(const Attack& attack, const std::string& log);

// Returns whether a plugin with fewer layers may do this step, as README.md says: every user may, or root without
// capabilities.
bool is_harmless_step(Rights rights, const Attack& attack, std::string_view step);

// Must a line name the plugin of this flood? Not if it costs the agent nothing, itself little, and has its limit by the
// kernel or in its own process, which the agent does not see.
bool is_flood_named(const Attack& attack);

// Did the attack ask the agent for something that the agent refused, so that a line must name the plugin? Calls that
// the kernel refuses reach no agent.
bool is_noticed_by_agent(const Attack& attack, std::string_view answer);

}  // namespace koord::hostile
